/* SPDX-License-Identifier: GPL-2.0-only */
/* Where interrupts enter, on kallsyms of our own: of x86, of another machine, of none. */
#include "common/harness.h"

#include <stdlib.h>

#include "bpf/irq_ranges.h"
#include "common/listing.h"

/* Settles from symbols with this text; NULL: from none. */
static struct wire_irq_ranges settle(const char *text)
{
	struct wire_irq_ranges waker = { .interrupt_start = 1, .bh_end = 1 };
	int err = 0;
	struct kallsyms *kallsyms = text ? listing__read(text, &err) : NULL;

	if (err)
		abort();
	irq_ranges__read(&waker, kallsyms);
	kallsyms__delete(kallsyms);
	return waker;
}

TEST(on_x86_exceptions_are_no_interrupts)
{
	struct wire_irq_ranges waker = settle("0000000000001000 T __irqentry_text_start\n"
					 "0000000000001100 T asm_exc_page_fault\n"
					 "0000000000001200 T asm_common_interrupt\n"
					 "0000000000001300 T asm_sysvec_apic_timer_interrupt\n"
					 "0000000000001400 T __irqentry_text_end\n"
					 "0000000000002000 T __local_bh_enable_ip\n"
					 "0000000000002100 T next\n");

	EXPECT_EQ(0x1200, waker.interrupt_start);
	EXPECT_EQ(0x1400, waker.interrupt_end);
	EXPECT_EQ(0x2000, waker.bh_start);
	EXPECT_EQ(0x2100, waker.bh_end);
}

TEST(elsewhere_the_whole_section_is_meant)
{
	struct wire_irq_ranges waker = settle("0000000000001000 T __irqentry_text_start\n"
					 "0000000000001100 T gic_handle_irq\n"
					 "0000000000001400 T __irqentry_text_end\n");

	EXPECT_EQ(0x1000, waker.interrupt_start);
	EXPECT_EQ(0x1400, waker.interrupt_end);
	EXPECT_EQ(0, waker.bh_start);
	EXPECT_EQ(0, waker.bh_end);
}

TEST(what_is_not_known_is_nowhere)
{
	static const char *const texts[] = {
		"0000000000001000 T asm_common_interrupt\n0000000000002000 T next\n",
		"0000000000000000 T asm_common_interrupt\n"
		"0000000000000000 T __irqentry_text_end\n",
		NULL,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct wire_irq_ranges waker = settle(texts[i]);

		EXPECT_EQ(0, waker.interrupt_start);
		EXPECT_EQ(0, waker.interrupt_end);
		EXPECT_EQ(0, waker.bh_end);
	}
}

TEST_HARNESS_MAIN
