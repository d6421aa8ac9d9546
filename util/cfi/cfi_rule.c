/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/cfi_rule.h"

#include <dwarf.h>
#include <string.h>

#define DWARF_RBP 6
#define DWARF_RSP 7
#define DWARF_RA 16

#define UNSUPPORTED CFI_RULE(CFI_SPECIAL, CFI_UNSUPPORTED)
#define WORD 8
/* Of a struct ucontext, which lies at rsp when a signal handler has returned. */
#define UCONTEXT_RBP 120
#define UCONTEXT_RSP 160
#define UCONTEXT_RIP 168

/* "Register + offset", which is what most expressions begin with. False: something else. */
static bool takes_register(struct cfi_bytes *bytes, uint8_t *reg, int64_t *offset)
{
	if (bytes->at == bytes->end || *bytes->at < DW_OP_breg0 || *bytes->at > DW_OP_breg15)
		return false;
	*reg = (uint8_t)(*bytes->at++ - DW_OP_breg0);
	*offset = cfi_bytes__sleb(bytes);
	return true;
}

static bool takes(struct cfi_bytes *bytes, uint8_t opcode)
{
	if (bytes->at == bytes->end || *bytes->at != opcode)
		return false;
	bytes->at++;
	return true;
}

/* Its expression; empty where there is none. */
static struct cfi_bytes bytes_of(const struct cfi_where *where)
{
	struct cfi_bytes bytes = { where->expression, where->expression };

	if (where->expression)
		bytes.end += where->size;
	return bytes;
}

/* Whether an expression is "register + offset" and nothing more. */
static bool is_place(const struct cfi_where *where, uint8_t reg, int64_t *offset)
{
	struct cfi_bytes bytes = bytes_of(where);
	uint8_t its_reg;

	return where->how == CFI_HOW_SAVED_EXPRESSION && takes_register(&bytes, &its_reg, offset) &&
	       bytes.at == bytes.end && its_reg == reg;
}

static bool fits(int64_t value)
{
	return value == (int32_t)value;
}

/* The entries of a PLT: rsp + 8, and 8 more behind the instruction that pushes a number. */
static bool is_plt(const struct cfi_where *cfa, int64_t *pushed)
{
	static const uint8_t start[] = { DW_OP_breg7,  8, DW_OP_breg16, 0,
					 DW_OP_lit15, DW_OP_and };
	static const uint8_t end[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const uint8_t *code = cfa->expression;

	if (cfa->size != sizeof(start) + 1 + sizeof(end) ||
	    memcmp(code, start, sizeof(start)) || code[sizeof(start)] < DW_OP_lit0 ||
	    code[sizeof(start)] > DW_OP_lit15 ||
	    memcmp(code + sizeof(start) + 1, end, sizeof(end)))
		return false;
	*pushed = code[sizeof(start)] - DW_OP_lit0;
	return true;
}

/* The word at a place, as a function that realigns its stack has it, plus a number perhaps. */
static bool is_deref(const struct cfi_where *cfa, uint8_t *reg, int64_t *offset, int64_t *add)
{
	struct cfi_bytes bytes = bytes_of(cfa);

	*add = 0;
	if (!takes_register(&bytes, reg, offset) || !takes(&bytes, DW_OP_deref))
		return false;
	if (takes(&bytes, DW_OP_plus_uconst))
		*add = (int64_t)cfi_bytes__uleb(&bytes);
	return bytes.at == bytes.end;
}

static bool set_cfa(const struct cfi_state *state, struct cfi_wide *wide)
{
	struct cfi_bytes bytes = bytes_of(&state->cfa);
	int64_t offset = state->cfa.value, add = 0;
	uint8_t reg = DWARF_RSP;

	if (state->cfa.how == CFI_HOW_IS) {
		wide->cfa = CFI_CFA_REGISTER;
		if (state->cfa_register >= DWARF_RA)
			return false;
		reg = (uint8_t)state->cfa_register;
	} else if (state->cfa.how != CFI_HOW_IS_EXPRESSION) {
		return false;
	} else if (is_plt(&state->cfa, &offset)) {
		wide->cfa = CFI_CFA_PLT;
	} else if (is_deref(&state->cfa, &reg, &offset, &add)) {
		wide->cfa = CFI_CFA_DEREF;
	} else if (takes_register(&bytes, &reg, &offset) && bytes.at == bytes.end) {
		wide->cfa = CFI_CFA_REGISTER;
	} else {
		return false;
	}
	wide->reg = reg;
	wide->cfa_offset = (int32_t)offset;
	wide->cfa_add = (int32_t)add;
	return fits(offset) && fits(add);
}

static bool set_ra(const struct cfi_where *ra, struct cfi_wide *wide)
{
	wide->ra = ra->how == CFI_HOW_REGISTER ? CFI_RA_REGISTER : CFI_RA_AT_CFA;
	wide->ra_offset = (int32_t)ra->value;
	if (ra->how == CFI_HOW_REGISTER)
		return ra->value >= 0 && ra->value < DWARF_RA;
	return ra->how == CFI_HOW_SAVED && fits(ra->value);
}

/*
 * An unknown frame pointer ends the chain only if a later frame needs it. A function that aligns
 * its stack saves rbp where rbp points to: at rbp + 0.
 */
static void set_bp(const struct cfi_where *bp, struct cfi_wide *wide)
{
	int64_t offset = bp->value;

	if (bp->how == CFI_HOW_UNSET || bp->how == CFI_HOW_SAME ||
	    (bp->how == CFI_HOW_REGISTER && bp->value == DWARF_RBP))
		wide->bp = CFI_BP_SAME;
	else if (bp->how == CFI_HOW_SAVED)
		wide->bp = CFI_BP_AT_CFA;
	else if (is_place(bp, DWARF_RBP, &offset))
		wide->bp = CFI_BP_AT_BP;
	else
		wide->bp = CFI_BP_LOST;
	if (wide->bp != CFI_BP_SAME && !fits(offset))
		wide->bp = CFI_BP_LOST;
	if (wide->bp == CFI_BP_AT_CFA || wide->bp == CFI_BP_AT_BP)
		wide->bp_offset = (int32_t)offset;
}

/* As glibc describes the code that its signal handlers return to. */
static bool is_signal_return(const struct cfi_state *state)
{
	int64_t bp, ra, cfa, add;
	uint8_t reg;

	return state->cfa.how == CFI_HOW_IS_EXPRESSION &&
	       is_deref(&state->cfa, &reg, &cfa, &add) && reg == DWARF_RSP &&
	       cfa == UCONTEXT_RSP && !add &&
	       is_place(&state->regs[CFI_REGISTER_BP], DWARF_RSP, &bp) && bp == UCONTEXT_RBP &&
	       is_place(&state->regs[CFI_REGISTER_RA], DWARF_RSP, &ra) && ra == UCONTEXT_RIP;
}

/* The rule for a row that fits into the rule itself; 0: it does not fit. */
static __u32 short_rule(const struct cfi_wide *wide)
{
	__u32 kind = wide->reg == DWARF_RSP ? CFI_SP : CFI_BP;
	__u32 cfa = (__u32)wide->cfa_offset / WORD, bp = (0 - (__u32)wide->bp_offset) / WORD;

	if (wide->cfa != CFI_CFA_REGISTER || (wide->reg != DWARF_RSP && wide->reg != DWARF_RBP) ||
	    wide->cfa_offset < 0 || wide->cfa_offset % WORD || cfa >= CFI_CFA_WORDS ||
	    wide->ra != CFI_RA_AT_CFA || wide->ra_offset != -WORD)
		return 0;
	if (wide->bp == CFI_BP_SAME)
		return CFI_RULE(kind, cfa << CFI_CFA_SHIFT);
	if (wide->bp != CFI_BP_AT_CFA || wide->bp_offset >= 0 || wide->bp_offset % WORD ||
	    bp > CFI_BP_FARTHEST)
		return 0;
	return CFI_RULE(kind, cfa << CFI_CFA_SHIFT | bp);
}

/* The caller's stack pointer is the CFA, unless a rule defines it. */
static bool has_plain_sp(const struct cfi_where *sp)
{
	return sp->how == CFI_HOW_UNSET || (sp->how == CFI_HOW_IS && !sp->value);
}

__u32 cfi_rule__of(const struct cfi_state *state, bool is_signal, struct cfi_wide *wide)
{
	const struct cfi_where *ra = &state->regs[CFI_REGISTER_RA];
	__u32 rule;

	*wide = (struct cfi_wide){ 0 };
	if (is_signal)
		return is_signal_return(state) ? CFI_RULE(CFI_SPECIAL, CFI_SIGNAL) : UNSUPPORTED;
	if (ra->how == CFI_HOW_UNDEFINED)
		return CFI_RULE(CFI_SPECIAL, CFI_OUTERMOST);
	if (!has_plain_sp(&state->regs[CFI_REGISTER_SP]) || !set_cfa(state, wide) ||
	    !set_ra(ra, wide))
		return UNSUPPORTED;
	set_bp(&state->regs[CFI_REGISTER_BP], wide);
	rule = short_rule(wide);
	return rule ? rule : CFI_RULE(CFI_WIDE, 0);
}
