/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_IRQ_RANGES_H
#define DENET_BPF_IRQ_RANGES_H

#include "host/kallsyms.h"
#include "wire.h"

/*
 * Finds the kernel's code for interrupt entry, by which a waker's callchain is recognized as that
 * of an interrupt. Ranges that are not found, or all if kallsyms is NULL, stay 0, with a warning:
 * wake-ups by interrupts are then attributed to the interrupted thread.
 */
void irq_ranges__read(struct wire_irq_ranges *ranges, const struct kallsyms *kallsyms);

#endif /* DENET_BPF_IRQ_RANGES_H */
