/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_CFI_RULE_H
#define DENET_CFI_CFI_RULE_H

#include <stdbool.h>

#include "cfi.h"
#include "cfi/cfi_program.h"

/*
 * The rule of a state, whose return address is at CFA-8 and whose expressions are those that
 * compilers and the C library write. is_signal: of a function that signal handlers return to.
 * If kind is CFI_WIDE, *wide is what it refers to, and the number is yet to be added. Pure.
 */
__u32 cfi_rule__of(const struct cfi_state *state, bool is_signal, struct cfi_wide *wide);

#endif /* DENET_CFI_CFI_RULE_H */
