/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/irq_ranges.h"

#include "base/log.h"

/* The start of a function; 0: there is none. */
static uint64_t start_of(const struct kallsyms *kallsyms, const char *name)
{
	uint64_t start, end;

	return kallsyms__range(kallsyms, name, &start, &end) ? 0 : start;
}

static void find_ranges(struct wire_irq_ranges *ranges, const struct kallsyms *kallsyms)
{
	uint64_t start, end;

	/* On x86 exceptions come first in the section: these are acts of the thread itself. */
	start = start_of(kallsyms, "asm_common_interrupt");
	if (!start)
		start = start_of(kallsyms, "__irqentry_text_start");
	end = start_of(kallsyms, "__irqentry_text_end");
	if (start && start < end) {
		ranges->interrupt_start = start;
		ranges->interrupt_end = end;
	}
	if (!kallsyms__range(kallsyms, "__local_bh_enable_ip", &start, &end)) {
		ranges->bh_start = start;
		ranges->bh_end = end;
	}
}

void irq_ranges__read(struct wire_irq_ranges *ranges, const struct kallsyms *kallsyms)
{
	*ranges = (struct wire_irq_ranges){ 0 };
	if (kallsyms && !kallsyms__hidden(kallsyms))
		find_ranges(ranges, kallsyms);
	if (!ranges->interrupt_start)
		pr_warn("the kernel's code for interrupt entry was not found: wake-ups by "
			"interrupts are attributed to the interrupted threads");
}
