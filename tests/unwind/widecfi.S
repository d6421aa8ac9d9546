/* SPDX-License-Identifier: GPL-2.0-only */
/* More different frames than a file may have wide rules, and the first one once more. */
	.text
	.type wide, @function
wide:
	.cfi_startproc
	.set distance, 0
	.rept 1100
	.set distance, distance + 8
	.cfi_def_cfa r10, distance
	nop
	.endr
	.cfi_def_cfa r10, 8
	nop
	.cfi_endproc
	.size wide, . - wide

	.section .note.GNU-stack, "", @progbits
