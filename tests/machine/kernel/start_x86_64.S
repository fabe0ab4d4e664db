/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every vCPU begins at 0xf0000, in real mode; in 64 bits, with 4 GiB mapped where they are, the first
 * one copies the image to BASE, and all go on there.
 */
#include "kernel.h"
#define ROM    0xf0000
#define MOVED  (BASE - ROM)
#include "x86_64.inc"
#define DATA64 0x20
#define USER_DATA 0x33
#define USER_CODE 0x3b

.macro push_all
        push %rbx
        push %rcx
        push %rdx
        push %rsi
        push %rdi
        push %rbp
        push %r8
        push %r9
        push %r10
        push %r11
        push %r12
        push %r13
        push %r14
        push %r15
.endm
.macro pop_all
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %r11
        pop %r10
        pop %r9
        pop %r8
        pop %rbp
        pop %rdi
        pop %rsi
        pop %rdx
        pop %rcx
        pop %rbx
        pop %rax
.endm
.macro vector name, error=0
function \name
        .if !\error
        push $0
        .endif
        push %rax
        lea \name(%rip), %rax
        jmp k_trap_entry
end \name
.endm

        .section .start, "ax"
function _start
        real_mode
        protected_mode start32
start32:
        long_mode start64
start64:
        mov $1, %eax
        cpuid
        shr $24, %ebx
        jnz 1f
        mov $ROM, %esi
        mov $BASE, %edi
        mov $0x2000, %ecx
        cld
        rep movsq
1:      mov $start_kernel, %eax
        jmp *%rax
start_kernel:
        lgdt gdt_there(%rip)
        mov $DATA64, %eax
        mov %eax, %ss
        mov %ebx, %eax
        imul $STACK_SIZE, %rax, %rax
        lea k_boot_stacks + STACK_SIZE(%rax), %rsp
        mov %ebx, %edi
        call k_main
1:      hlt
        jmp 1b
end _start

        .globl k_gdt
        .balign 8
        .set k_gdt, .
        descriptors
        .quad 0x00cf93000000ffff
        .quad 0
        .quad 0x00cff3000000ffff /* the user's */
        .quad 0x00affb000000ffff
        .space 16 * CPUS /* task states */
        end_descriptors
gdt_there:
        .word gdt_end - gdt - 1
        .quad k_gdt

        .text
        vector vector_tick
        vector vector_soft
        vector vector_call
        vector vector_page_fault, 1
        vector vector_double_fault, 1
        vector k_bad_trap

function k_trap_entry
        push_all
        mov %rsp, %rdi
        mov %rax, %rsi
#ifdef RTOS
        mov k_current(%rip), %rax
        mov %rsp, (%rax)
#endif
        call k_trap
#ifdef RTOS
        mov k_current(%rip), %rax
        mov (%rax), %rsp
#endif
        jmp k_trap_exit
end k_trap_entry
function k_trap_exit
        pop_all
        add $8, %rsp
        iretq
end k_trap_exit

/* One vCPU only. */
function vector_syscall
        mov %rsp, k_user_sp(%rip)
        mov k_kernel_sp(%rip), %rsp
        push $USER_DATA
        push k_user_sp(%rip)
        push %r11
        push $USER_CODE
        push %rcx
        push $0
        push %rax
        push_all
        mov %rsp, %rdi
        lea vector_syscall(%rip), %rsi
        call k_trap
        pop_all
        mov 8(%rsp), %rcx
        mov 24(%rsp), %r11
        mov 32(%rsp), %rsp
        sysretq
end vector_syscall

/* From rdi to rsi, what a callee saves. */
function cpu_switch_to
        push %rbp
        push %rbx
        push %r12
        push %r13
        push %r14
        push %r15
        mov %rsp, (%rdi)
        mov (%rsi), %rsp
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbx
        pop %rbp
        jmp k_switched
end cpu_switch_to
function k_switched
        ret
end k_switched

/* The old stack pointer is on top of the new stack. */
function call_on_stack
        sub $16, %rdx
        mov %rsp, (%rdx)
        mov %rdx, %rsp
        call *%rsi
        pop %rsp
        ret
end call_on_stack

/* rdi is the caller's. */
function go_there
        add %rdi, (%rsp)
        ret
end go_there
function start_over
        call go_there
        add %rdi, %rsi
        add %rdi, %rdx
        mov %rdx, %rsp
        call *%rsi
        ud2
end start_over

function k_thread_start
        call thread_begin
        mov %r12, %rdi
        call *%rbx
        ud2
end k_thread_start

function k_user_thread_start
        call user_thread_begin
        jmp k_trap_exit
end k_user_thread_start

        reset_vector

        .bss
        .globl k_kernel_sp
k_kernel_sp:
        .space 8
k_user_sp:
        .space 8
        .balign STACK_SIZE
        .globl k_boot_stacks
k_boot_stacks:
        .space STACK_SIZE * CPUS
