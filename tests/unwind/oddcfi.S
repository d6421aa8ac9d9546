/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frame information of every kind, as nobody would write it in one file. None of the code is
 * run: the tests compare what two readers make of its description.
 */
	.text
	.macro function name
	.type \name, @function
\name:
	.cfi_startproc
	nop
	.endm
	.macro end name
	nop
	.cfi_endproc
	.size \name, . - \name
	.endm

	function remembers
	.cfi_adjust_cfa_offset 8
	nop
	.cfi_remember_state
	.cfi_adjust_cfa_offset 64
	.cfi_offset rbp, -24
	nop
	.cfi_remember_state
	.cfi_def_cfa rbp, 16
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
	.cfi_escape 0x2e, 0x20		/* DW_CFA_GNU_args_size 32 */
	nop
	.cfi_offset rbp, -4088
	nop
	.cfi_restore rbp
	nop
	.cfi_offset rbp, -4096
	nop
	.cfi_same_value rbp
	nop
	.cfi_offset rbp, 0
	nop
	.cfi_restore rbp
	end remembers

	function undefines
	.cfi_undefined rbp
	nop
	.cfi_register rbp, r12
	nop
	.cfi_escape 0x14, 6, 2		/* DW_CFA_val_offset rbp */
	nop
	.cfi_undefined rip
	end undefines

	function returns_by_register
	.cfi_register rip, rdi
	nop
	.cfi_offset rip, -16
	nop
	.cfi_same_value rip
	end returns_by_register

	function far_away
	.cfi_def_cfa rsp, 65528
	nop
	.cfi_def_cfa rsp, 65536
	nop
	.cfi_def_cfa rsp, 12
	.skip 70
	.cfi_def_cfa r10, 0
	.skip 300
	.cfi_def_cfa rbp, 16
	.skip 70000
	.cfi_escape 0x12, 7, 0x7e	/* DW_CFA_def_cfa_sf rsp, -2 * -8 */
	nop
	.cfi_escape 0x13, 0x7d		/* DW_CFA_def_cfa_offset_sf -3 * -8 */
	nop
	.cfi_escape 0x11, 6, 2		/* DW_CFA_offset_extended_sf rbp, 2 * -8 */
	nop
	.cfi_escape 0x05, 6, 3		/* DW_CFA_offset_extended rbp, 3 * -8 */
	nop
	.cfi_escape 0x2f, 6, 4		/* DW_CFA_GNU_negative_offset_extended rbp */
	nop
	.cfi_escape 0x06, 6		/* DW_CFA_restore_extended rbp */
	end far_away

	function by_expression
	/* DW_CFA_def_cfa_expression: rsp + 40 */
	.cfi_escape 0x0f, 2, 0x77, 40
	nop
	/* the word at rbp - 8 */
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
	nop
	/* the word at rsp + 64, + 24 */
	.cfi_escape 0x0f, 6, 0x77, 0xc0, 0x00, 0x06, 0x23, 24
	nop
	/* an entry of a PLT, from the byte 11 on */
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.skip 40
	/* the same with another register: rdx */
	.cfi_escape 0x0f, 11, 0x71, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_def_cfa rsp, 16
	/* DW_CFA_expression rbp: at rbp, as in a function that aligns its stack */
	.cfi_escape 0x10, 6, 2, 0x76, 0
	nop
	/* at rbp - 16; at rsp - 16 */
	.cfi_escape 0x10, 6, 2, 0x76, 0x70
	nop
	.cfi_escape 0x10, 6, 2, 0x77, 0x70
	nop
	/* DW_CFA_val_expression rbp: rsp + 16 */
	.cfi_escape 0x16, 6, 2, 0x77, 16
	nop
	/* DW_CFA_expression rip: at rsp + 16 */
	.cfi_escape 0x10, 16, 2, 0x77, 16
	end by_expression

	function moves_sp
	/* DW_CFA_val_expression rsp: rbp + 32 */
	.cfi_escape 0x16, 7, 2, 0x76, 32
	nop
	.cfi_restore rsp
	end moves_sp

	.skip 64			/* not described */

	.type returns_from_signal, @function
returns_from_signal:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06	/* the word at rsp + 160 */
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0		/* rbp at rsp + 120 */
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1		/* rip at rsp + 168 */
	nop
	nop
	end returns_from_signal

	.type other_signal, @function
other_signal:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa rsp, 64
	nop
	end other_signal

	.section .note.GNU-stack, "", @progbits
