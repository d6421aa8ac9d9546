/* SPDX-License-Identifier: GPL-2.0-only */
/* A 32-bit program without any library: pause(2), again and again. */
	.globl _start
_start:
	movl $29, %eax
	int $0x80
	jmp _start
	.section .note.GNU-stack, "", @progbits
