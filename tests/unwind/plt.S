/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Naps in what has the frame information of an entry of a PLT, before and behind its push: code
 * that is stopped in a real one has come there by a page fault or a signal.
 */
	.text
	.globl _start

	.balign 16
	.type plt_entry, @function
plt_entry:
	.cfi_startproc
	/* CFA: rsp + 8 + ((rip & 15) >= 11) * 8, as linkers write it */
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	syscall			/* returns to byte 2 */
	movl $35, %eax
	nop
	nop
	pushq $0		/* bytes 9 and 10 */
	syscall			/* returns to byte 13 */
	jmp plt_end
	nop
	.cfi_endproc
	.size plt_entry, . - plt_entry

	.type plt_end, @function
plt_end:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	addq $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size plt_end, . - plt_end

	.type go_between, @function
go_between:
	.cfi_startproc
	subq $24, %rsp
	.cfi_adjust_cfa_offset 24
	movl $35, %eax		/* nanosleep */
	leaq length(%rip), %rdi
	xorl %esi, %esi
	call plt_entry
	addq $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size go_between, . - go_between

	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	call go_between
	jmp _start
	.cfi_endproc
	.size _start, . - _start

	.section .rodata
	.balign 8
length:	.quad 0, 200000

	.section .note.GNU-stack, "", @progbits
