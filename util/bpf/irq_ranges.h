/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_IRQ_RANGES_H
#define DENET_BPF_IRQ_RANGES_H

#include "host/kallsyms.h"
#include "wire.h"

/*
 * Fills in where the kernel's code lies by which a waker's callchain is known to be that of
 * an interrupt; kallsyms NULL: not known. What is not to be had stays 0, which is said:
 * interrupts are then taken for the thread that they interrupted.
 */
void irq_ranges__read(struct wire_irq_ranges *waker, const struct kallsyms *kallsyms);

#endif /* DENET_BPF_IRQ_RANGES_H */
