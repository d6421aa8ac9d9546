/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that naps three times for 100 ms and ends, without any frame information: its functions
 * have frame pointers, and that of the first one is 0.
 */
	.globl _start
	.type take_nap, @function
take_nap:
	push %rbp
	mov %rsp, %rbp
	movl $35, %eax			/* nanosleep */
	leaq length(%rip), %rdi
	xorl %esi, %esi
	syscall
	pop %rbp
	ret
	.type go_between, @function
go_between:
	push %rbp
	mov %rsp, %rbp
	call take_nap
	pop %rbp
	ret
	.type _start, @function
_start:
	xorl %ebp, %ebp
	movl $3, %ebx
again:
	call go_between
	decl %ebx
	jnz again
	movl $60, %eax			/* exit */
	xorl %edi, %edi
	syscall
	.section .rodata
	.balign 8
length:
	.quad 0, 100000000
	.section .note.GNU-stack, "", @progbits
