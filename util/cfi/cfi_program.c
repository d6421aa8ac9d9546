/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/cfi_program.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* DWARF's numbers of x86-64. */
#define DWARF_RBP 6
#define DWARF_RSP 7
#define DWARF_RA 16

#define OPCODE_MASK 0xc0 /* of the three instructions that have an operand in the rest */
#define OPERAND_MASK 0x3f

/* The bits of a LEB128 number; shift is set to their number, last to the last byte. */
static uint64_t take_leb(struct cfi_bytes *bytes, unsigned int *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	*last = 0x80;
	while (bytes->at < bytes->end && *last & 0x80) {
		*last = *bytes->at++;
		if (*shift < 64)
			value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	}
	return value;
}

uint64_t cfi_bytes__uleb(struct cfi_bytes *bytes)
{
	unsigned int shift;
	uint8_t last;

	return take_leb(bytes, &shift, &last);
}

int64_t cfi_bytes__sleb(struct cfi_bytes *bytes)
{
	unsigned int shift;
	uint8_t last;
	uint64_t value = take_leb(bytes, &shift, &last);

	if (shift < 64 && last & 0x40)
		value |= ~0ULL << shift;
	return (int64_t)value;
}

bool cfi_bytes__take(struct cfi_bytes *bytes, size_t size, uint64_t *value)
{
	*value = 0;
	if (size > sizeof(*value) || (size_t)(bytes->end - bytes->at) < size)
		return false;
	memcpy(value, bytes->at, size); /* of the machine that it is for: little-endian */
	bytes->at += size;
	return true;
}

/* Products of what files say may overflow, which unsigned numbers may. */
static int64_t factored(const struct cfi_program *program, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)program->data_factor);
}

/* NULL: a register that is not followed. */
static struct cfi_where *register_of(struct cfi_state *state, uint64_t number)
{
	switch (number) {
	case DWARF_RBP:
		return &state->regs[CFI_REGISTER_BP];
	case DWARF_RSP:
		return &state->regs[CFI_REGISTER_SP];
	case DWARF_RA:
		return &state->regs[CFI_REGISTER_RA];
	default:
		return NULL;
	}
}

static void set(struct cfi_program *program, uint64_t number, enum cfi_how how, int64_t value)
{
	struct cfi_where *where = register_of(&program->state, number);

	if (where)
		*where = (struct cfi_where){ .how = how, .value = value };
}

/* Back to what the functions of its kind begin with. */
static int restore(struct cfi_program *program, uint64_t number)
{
	struct cfi_where *where = register_of(&program->state, number);
	struct cfi_state initial;

	if (!program->initial)
		return -EINVAL;
	initial = *program->initial;
	if (where)
		*where = *register_of(&initial, number);
	return 0;
}

static int take_expression(struct cfi_program *program, struct cfi_where *where, enum cfi_how how)
{
	uint64_t size = cfi_bytes__uleb(&program->code);

	if (size > (uint64_t)(program->code.end - program->code.at))
		return -EINVAL;
	if (where)
		*where = (struct cfi_where){
			.how = how, .expression = program->code.at, .size = size
		};
	program->code.at += size;
	return 0;
}

static int remember(struct cfi_program *program)
{
	if (program->nr_remembered == CFI_MAX_REMEMBERED)
		return -EINVAL;
	program->remembered[program->nr_remembered++] = program->state;
	return 0;
}

static int recall(struct cfi_program *program)
{
	if (!program->nr_remembered)
		return -EINVAL;
	program->state = program->remembered[--program->nr_remembered];
	return 0;
}

static void set_cfa(struct cfi_program *program, uint64_t number, int64_t offset)
{
	program->state.cfa = (struct cfi_where){ .how = CFI_HOW_IS, .value = offset };
	program->state.cfa_register = number;
}

/* Instructions about the CFA. -ENOENT: it is none. */
static int run_cfa(struct cfi_program *program, uint8_t opcode)
{
	struct cfi_bytes *code = &program->code;
	uint64_t number = program->state.cfa_register;

	switch (opcode) {
	case DW_CFA_def_cfa:
		number = cfi_bytes__uleb(code);
		set_cfa(program, number, (int64_t)cfi_bytes__uleb(code));
		return 0;
	case DW_CFA_def_cfa_sf:
		number = cfi_bytes__uleb(code);
		set_cfa(program, number, factored(program, cfi_bytes__sleb(code)));
		return 0;
	case DW_CFA_def_cfa_register:
		set_cfa(program, cfi_bytes__uleb(code), program->state.cfa.value);
		return 0;
	case DW_CFA_def_cfa_offset:
		set_cfa(program, number, (int64_t)cfi_bytes__uleb(code));
		return 0;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(program, number, factored(program, cfi_bytes__sleb(code)));
		return 0;
	case DW_CFA_def_cfa_expression:
		return take_expression(program, &program->state.cfa, CFI_HOW_IS_EXPRESSION);
	default:
		return -ENOENT;
	}
}

/* Instructions about a register, with an operand behind its number. -ENOENT: it is none. */
static int run_register(struct cfi_program *program, uint8_t opcode, uint64_t number)
{
	struct cfi_bytes *code = &program->code;

	switch (opcode) {
	case DW_CFA_offset_extended:
		set(program, number, CFI_HOW_SAVED,
		    factored(program, (int64_t)cfi_bytes__uleb(code)));
		return 0;
	case DW_CFA_offset_extended_sf:
		set(program, number, CFI_HOW_SAVED, factored(program, cfi_bytes__sleb(code)));
		return 0;
	case DW_CFA_GNU_negative_offset_extended:
		set(program, number, CFI_HOW_SAVED,
		    factored(program, (int64_t)-cfi_bytes__uleb(code)));
		return 0;
	case DW_CFA_val_offset:
		set(program, number, CFI_HOW_IS,
		    factored(program, (int64_t)cfi_bytes__uleb(code)));
		return 0;
	case DW_CFA_val_offset_sf:
		set(program, number, CFI_HOW_IS, factored(program, cfi_bytes__sleb(code)));
		return 0;
	case DW_CFA_register:
		set(program, number, CFI_HOW_REGISTER, (int64_t)cfi_bytes__uleb(code));
		return 0;
	case DW_CFA_expression:
		return take_expression(program, register_of(&program->state, number),
				       CFI_HOW_SAVED_EXPRESSION);
	case DW_CFA_val_expression:
		return take_expression(program, register_of(&program->state, number),
				       CFI_HOW_IS_EXPRESSION);
	case DW_CFA_undefined:
		set(program, number, CFI_HOW_UNDEFINED, 0);
		return 0;
	case DW_CFA_same_value:
		set(program, number, CFI_HOW_SAME, 0);
		return 0;
	case DW_CFA_restore_extended:
		return restore(program, number);
	default:
		return -EINVAL;
	}
}

/* Instructions without effect on what is followed, or on all of it. -ENOENT: it is none. */
static int run_other(struct cfi_program *program, uint8_t opcode)
{
	switch (opcode) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_GNU_args_size:
		cfi_bytes__uleb(&program->code);
		return 0;
	case DW_CFA_remember_state:
		return remember(program);
	case DW_CFA_restore_state:
		return recall(program);
	default:
		return -ENOENT;
	}
}

/* How far an instruction moves on. False: it does not, *err is set if it is cut off. */
static bool is_advance(struct cfi_program *program, uint8_t opcode, uint64_t *next, int *err)
{
	uint64_t delta = 0;
	bool there = true;

	switch (opcode) {
	case DW_CFA_advance_loc1:
		there = cfi_bytes__take(&program->code, 1, &delta);
		break;
	case DW_CFA_advance_loc2:
		there = cfi_bytes__take(&program->code, 2, &delta);
		break;
	case DW_CFA_advance_loc4:
		there = cfi_bytes__take(&program->code, 4, &delta);
		break;
	default:
		if ((opcode & OPCODE_MASK) != DW_CFA_advance_loc)
			return false;
		delta = opcode & OPERAND_MASK;
	}
	*err = there ? 0 : -EINVAL;
	*next = program->pc + delta * program->code_factor;
	return there;
}

static int run_one(struct cfi_program *program, uint8_t opcode)
{
	int err;

	if ((opcode & OPCODE_MASK) == DW_CFA_offset) {
		set(program, opcode & OPERAND_MASK, CFI_HOW_SAVED,
		    factored(program, (int64_t)cfi_bytes__uleb(&program->code)));
		return 0;
	}
	if ((opcode & OPCODE_MASK) == DW_CFA_restore)
		return restore(program, opcode & OPERAND_MASK);
	err = run_cfa(program, opcode);
	if (err == -ENOENT)
		err = run_other(program, opcode);
	if (err == -ENOENT)
		err = run_register(program, opcode, cfi_bytes__uleb(&program->code));
	return err;
}

int cfi_program__step(struct cfi_program *program, uint64_t *next)
{
	int err = 0;

	while (program->code.at < program->code.end && !err) {
		uint8_t opcode = *program->code.at++;

		if (is_advance(program, opcode, next, &err))
			return *next < program->pc ? -EINVAL : 1;
		if (!err)
			err = run_one(program, opcode);
	}
	return err;
}
