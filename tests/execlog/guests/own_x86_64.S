/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program, each case a function of its own that begins a block: atomics, vectors and strings, a
 * load that faults in the middle of a block and is run again when the signal's handler returns, code
 * that changes itself: the instruction after the store, and what was run before. own_test.py has the
 * lines.
 */
#define RT_SIGACTION 13
#define RT_SIGRETURN 15
#define EXIT         60
#define SIGSEGV      11
#define SA_RESTORER  0x04000000
#define RAX_IN_FRAME 0x90               /* of the handler's ucontext */

        .section .code, "awx"
        .globl _start
_start:
        mov $RT_SIGACTION, %eax
        mov $SIGSEGV, %edi
        lea action(%rip), %rsi
        xor %edx, %edx
        mov $8, %r10d
        syscall
        lea data(%rip), %rbx
        jmp atomics

        .globl atomics
atomics:
        lock xadd %rcx, (%rbx)
        lock cmpxchg16b (%rbx)
        xchg %ecx, 4(%rbx)
        jmp vectors

        .globl vectors
vectors:
        movups (%rbx), %xmm0
        movaps %xmm0, 16(%rbx)
        movhps %xmm0, 8(%rbx)
        mov %rbx, %rsi
        lea 32(%rbx), %rdi
        mov $3, %ecx
        rep movsb
        jmp fault

        .globl fault
fault:  xor %eax, %eax
        add $1, %rdx
        mov 8(%rax), %rdx               /* the handler makes rax good */
        mov %rdx, 24(%rax)
        jmp changes

        .globl handler
handler:
        mov %rbx, RAX_IN_FRAME(%rdx)
        ret
        .globl restorer
restorer:
        mov $RT_SIGRETURN, %eax
        syscall

        .globl changes
changes:
        movb $0xc1, changed+1(%rip)     /* add $1, %ecx, no longer %eax */
changed:
        add $1, %eax
        cmp $2, %ecx
        jne changes
        mov $EXIT, %eax
        xor %edi, %edi
        syscall

        .data
        .balign 4096
action: .quad handler, SA_RESTORER + 4, restorer, 0
        .balign 64
        .globl data
data:   .space 64
        .balign 4096                    /* no code in this page */
        .section .note.GNU-stack, "", @progbits
