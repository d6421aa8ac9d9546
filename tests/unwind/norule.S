/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that naps three times for 100 ms and ends. Its frame information is right, and says by
 * an expression what the stack pointer of a caller was, for which unwind tables have no rule.
 */
	.globl _start
	.type take_nap, @function
take_nap:
	.cfi_startproc
	movl $35, %eax			/* nanosleep */
	leaq length(%rip), %rdi
	xorl %esi, %esi
	syscall
	ret
	.cfi_endproc
	.type go_between, @function
go_between:
	.cfi_startproc
	/* DW_CFA_val_expression rsp: rsp + 8 */
	.cfi_escape 0x16, 7, 2, 0x77, 8
	call take_nap
	ret
	.cfi_endproc
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	movl $3, %ebx
again:
	call go_between
	decl %ebx
	jnz again
	movl $60, %eax			/* exit */
	xorl %edi, %edi
	syscall
	.cfi_endproc
	.section .rodata
	.balign 8
length:
	.quad 0, 100000000
	.section .note.GNU-stack, "", @progbits
