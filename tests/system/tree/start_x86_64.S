/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "pc": the local APIC wakes the second vCPU. */
#define START_MAIN  run_tree
#define START_OTHER run_other
#define START_STACK 0x20000
#ifdef ALIASES
#define START_THEN  run_aliases
#endif
#define ICR_LOW     0xfee00300
#define ICR_HIGH    0xfee00310
#include "x86_64.S"

function wake_other
        mov $ICR_LOW, %edi
        movl $0x01000000, ICR_HIGH - ICR_LOW(%rdi)
        movl $0x00004500, (%rdi) /* INIT */
        movl $0x000046f0, (%rdi) /* start at 0xf0000 */
        ret
end wake_other

function leap
        inc %edi
        jmp landed
end leap

#ifdef ALIASES
/* known is first called where it is linked, seldom ALIAS further up: whose blocks are those? */
function run_aliases
        call known
        lea seldom(%rip), %rax
        movabs $ALIAS, %rcx
        add %rcx, %rax
        call *%rax
        call seldom
        ret
end run_aliases

function seldom
        call known
        call known
        ret
end seldom

function known
        nop
        ret
end known
#endif
