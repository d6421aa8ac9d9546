/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program whose frame information is wrong: it says that a return does not take the return
 * address off the stack, so that the stack pointer would not rise.
 */
	.globl _start
	.type wait_inside, @function
wait_inside:
	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_offset rip, 0
	movl $34, %eax
	syscall
	ret
	.cfi_endproc
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	call wait_inside
	jmp _start
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
