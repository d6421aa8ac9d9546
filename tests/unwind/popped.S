/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that waits with its return address in a register, as vfork(2) of the C library
 * does: the stack pointer is its caller's then.
 */
	.globl _start
	.type wait_popped, @function
wait_popped:
	.cfi_startproc
	pop %rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	movl $34, %eax
	syscall
	push %rdi
	.cfi_adjust_cfa_offset 8
	ret
	.cfi_endproc
	.type go_between, @function
go_between:
	.cfi_startproc
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	call wait_popped
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
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
