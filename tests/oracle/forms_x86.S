/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every form that the x86 decoder tells apart, and neighbours it must not take for one; with
 * MODE = 64, 32 or 16, the bits of the code.
 */
    .text
    .if MODE == 64
    .code64
    .elseif MODE == 32
    .code32
    .else
    .code16
    .endif
    .zero 512, 0x90 /* so that no target lies below 0 */

    .macro direct
1:
    call 1b
    call 2f
    jmp 1b
    jmp 2f
    .irp cc, o, no, c, nc, z, nz, be, a, s, ns, p, np, l, ge, le, g
    j\cc 1b
    j\cc 2f
    .endr
2:
    loop 2b
    loope 2b
    loopne 2b
    xbegin 2b
    .byte 0xf2; call 1b
    .byte 0xf2; jmp 1b
    .byte 0xf2; jne 1b
    .byte 0xf2; jne 2b
    jne,pt 2b
    jne,pn 2b
    cs jmp 2b
    .zero 200, 0x90
    jmp 1b
    jc 1b
    call 1b
    .endm

    .macro ends
    ret
    ret $8
    rep ret
    .byte 0xf2; ret
    .byte 0xf2; ret $16
    lretl
    lretl $8
    iretl
    rsm
    sysenter
    int $0x80
    int $3
    int3
    int1
    vmcall
    vmmcall
    ud2
    ud1 %eax, %ebx
    ud0 %eax, %ebx
    .byte 0x0f, 0xb9, 0xc8
    hlt
    swapgs_or_nop
    wrmsr
    rdmsr
    leave
    enter $16, $0
    clac
    stac
    cli
    nop
    pause
    .endm

    /* \bx \bp \di: a register, the frame pointer, another, fit for addresses in every mode */
    .macro memory bx, bp, di
    .irp at, (%\bx), 8(%\bp), -8(%\di), 0x1000(%\bx), (%\bx), table
    call *\at
    jmp *\at
    lcall *\at
    ljmp *\at
    notrack jmp *\at
    .byte 0xf2; call *\at
    gs call *\at
    lidt \at
    lgdt \at
    sidt \at
    sgdt \at
    lmsw \at
    invlpg \at
    mov \at, %esp
    mov \at, %sp
    mov %esp, \at
    mov %sp, \at
    mov %ebx, \at
    mov \at, %ebp
    xchg %esp, \at
    xchg %ecx, \at
    lss \at, %esp
    lfs \at, %esp
    lgs \at, %sp
    lss \at, %ebp
    movzwl \at, %esp
    movswl \at, %esp
    cmove \at, %esp
    incl \at
    decl \at
    pushl_or_q \at
    .endr
    lea 0x1000(%\bx), %esp
    lea 0x1000(%\bp), %esp
    lea 0x1000(%\bp), %sp
    lea 0x1000(%\bp, %\di), %esp
    lea 0x1000(%\bx, %\di), %esp
    lea table, %esp
    .endm

    .macro stack
    .irp r, eax, ecx, edx, ebx, esi, edi, esp, ebp
    mov %\r, %esp
    mov.s %\r, %esp
    mov %esp, %\r
    mov.s %esp, %\r
    xchg %\r, %esp
    cmovne %\r, %esp
    cmovg %esp, %\r
    add %\r, %esp
    sub %\r, %esp
    and %\r, %esp
    .endr
    .irp r, ax, cx, dx, bx, si, di, sp, bp
    mov %\r, %sp
    mov %sp, %\r
    xchg %\r, %sp
    movzwl %\r, %esp
    movswl %\r, %esp
    movzwl %sp, %e\r
    .endr
    mov $0x1000, %esp
    mov $0x1000, %sp
    mov $0x1000, %ebp
    .byte 0x66, 0xc7, 0xc4
    .if MODE == 16
    .long 0x1000
    .else
    .short 0x1000
    .endif
    pop %sp
    pop %bp
    add $16, %esp
    sub $16, %esp
    and $-16, %esp
    movd %xmm0, %esp
    movd %mm7, %esp
    movd %esp, %xmm0
    movd %xmm4, %ebx
    movq %xmm1, %xmm4
    xor %esp, %esp
    .endm

    direct
    .if MODE == 64
    .macro swapgs_or_nop
    swapgs
    .endm
    .macro pushl_or_q at:vararg
    pushq \at
    .endm
    .else
    .macro swapgs_or_nop
    nop
    .endm
    .macro pushl_or_q at:vararg
    pushl \at
    .endm
    .endif
    ends

    .if MODE == 64
    memory rbx, rbp, r13
    memory r12, rsp, rdi
    memory eax, ebp, r12d
    .irp r, rax, rcx, rdx, rbx, rsi, rdi, rsp, rbp, r8, r12, r13, r15
    call *%\r
    jmp *%\r
    notrack call *%\r
    .byte 0xf2; jmp *%\r
    mov %\r, %rsp
    mov.s %\r, %rsp
    mov %rsp, %\r
    mov %\r, %r12
    mov %r12, %\r
    xchg %\r, %rsp
    cmovne %\r, %rsp
    cmovne %rsp, %\r
    mov %cr3, %\r
    mov %\r, %cr3
    mov %dr7, %\r
    movq %xmm4, %\r
    pop %\r
    push %\r
    lea (%\r), %rsp
    lea 8(%\r), %rsp
    lea -0x1000(%\r), %rsp
    lea 8(%\r, %rax, 4), %rsp
    lea (%\r), %r12
    mov (%\r), %rsp
    mov (%\r), %r12
    mov %rsp, (%\r)
    mov $0x1000, %\r
    movabs $0x123456789abcdef0, %\r
    add %\r, %rsp
    .byte 0x66, 0x66
    rex.W call 1f
    .endr
1:
    .irp r, eax, ecx, esp, ebp, r8d, r12d, r13d
    mov %\r, %esp
    movslq %\r, %rsp
    movslq %esp, %r12
    .endr
    jrcxz 1b
    jecxz 1b
    call *table(%rip)
    jmp *table(%rip)
    lea table(%rip), %rsp
    lea table(,%rbp,8), %rsp
    lea table, %rsp
    mov %gs:0x1000, %rsp
    mov %gs:table(%rip), %rsp
    lidt table(%rip)
    rex.W lcall *(%rax)
    rex.W ljmp *(%rax)
    lretq
    iretq
    iretw
    syscall
    sysretl
    sysretq
    sysexitl
    sysexitq
    uiret
    clui
    .byte 0x66, 0xe8, 0x10, 0x00
    .byte 0x66, 0xe9, 0x10, 0x00
    .byte 0x66, 0x0f, 0x84, 0x10, 0x00
    .byte 0x8f, 0xc4, 0x41, 0x8f, 0xc4 /* pop %rsp, pop %r12 */
    .else
    stack
    .irp r, eax, ebx, esp, ebp, edi
    mov %cr3, %\r
    mov %\r, %cr3
    mov %dr7, %\r
    call *%\r
    jmp *%\r
    inc %\r
    dec %\r
    lea 0x1000(%\r), %esp
    lea 0x100000(%\r, %eax, 2), %esp
    pop %\r
    .endr
    call *%bx
    jmp *%sp
    into
    popa
    les 0x1000(%bx), %edi
    arpl %ax, %sp
    lcall $0x1234, $0x5678
    ljmp $0x1234, $0x5678
    lcallw $0x1234, $0x5678
    ljmpw $0xf000, $0xe05b
    lcalll $0x10, $0x12345678
    ljmpl $0x10, $0x12345678
    iretw
    iretl
    lretw
    lretl
    syscall
    sysret
    sysexit
    jcxz 1f
    jecxz 1f
1:
    .byte 0x66, 0xe8, 0x10, 0x00, 0x00, 0x00
    .byte 0x66, 0xe9, 0x10, 0x00, 0x00, 0x00
    .byte 0x66, 0x0f, 0x84, 0x10, 0x00, 0x00, 0x00
    .endif
    .if MODE == 32
    memory ebx, ebp, edi
    memory esi, esp, ecx
    .byte 0x66, 0xe8, 0x10, 0x00
    .elseif MODE == 16
    memory bx, bp, di
    lea 0x1000(%si), %sp
    lea 0x1000(%bp, %si), %sp
    lea 0x1000(%bx, %si), %sp
    .endif

    .zero 64, 0x90
table:
    .zero 8, 0x90
