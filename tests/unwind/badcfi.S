/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs whose frame information is wrong. One says of a caller that its return does not take
 * the return address off the stack, so that the stack pointer would not rise; with SAME, that it
 * returns to itself, and that there is no end to that.
 */
	.globl _start
	.type wait_inside, @function
wait_inside:
	.cfi_startproc
	movl $34, %eax
	syscall
	ret
	.cfi_endproc
	.type go_between, @function
go_between:
	.cfi_startproc
#ifdef SAME
	.cfi_same_value rip
#else
	.cfi_def_cfa rsp, 0
	.cfi_offset rip, 0
#endif
	call wait_inside
	ret
	.cfi_endproc
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	call go_between
	jmp _start
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
