/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_WORKLOADS_KNOWN_H
#define DENET_WORKLOADS_KNOWN_H

/* Keeps a function as a frame of its own, under its own name, with either compiler. */
#if defined(__GNUC__) && !defined(__clang__)
#define KNOWN __attribute__((noipa))
#else
#define KNOWN __attribute__((noinline))
#endif

#endif /* DENET_WORKLOADS_KNOWN_H */
