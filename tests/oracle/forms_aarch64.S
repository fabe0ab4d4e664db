/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every form that arch_aarch64.c tells apart, and neighbours it must not take for one. */
    .text
back:
    bl back
    bl ahead
    blr x0
    blr x30
    blraaz x1
    blrabz x2
    blraa x3, x4
    blrab x5, sp
    ret
    ret x17
    retaa
    retab
    b back
    b ahead
    b.al ahead
    b.nv back
    br x0
    br x30
    braaz x1
    brabz x2
    braa x3, x4
    brab x5, sp
    eret
    eretaa
    eretab
    drps
    svc #0
    svc #0xffff
    hvc #1
    smc #2
    brk #0
    brk #0xf000
    hlt #3
    udf #0
    udf #0xffff
    dcps1
    dcps2
    dcps3
    .irp cond, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le
    b.\cond back
    bc.\cond ahead
    .endr
    cbz w0, back
    cbz x1, ahead
    cbnz w2, ahead
    cbnz x3, back
    tbz w0, #0, back
    tbz x0, #63, ahead
    tbnz w1, #31, ahead
    tbnz x1, #32, back

    /* vector bases, and other system registers */
    msr vbar_el1, x0
    msr vbar_el2, x1
    msr vbar_el3, x2
    msr vbar_el12, x3
    msr vbar_el1, xzr
    mrs x0, vbar_el1
    msr spsel, #1
    msr sp_el0, x0
    msr elr_el1, x0
    msr ttbr0_el1, x0
    msr daifset, #2

    /* sp from elsewhere */
    mov sp, x0
    mov sp, x30
    mov wsp, w3
    add sp, x1, #16
    sub sp, x2, #1, lsl #12
    add sp, x3, x4
    add sp, x3, w4, uxtb #3
    add sp, x3, x4, lsl #4
    sub sp, x5, w6, uxtw
    and sp, x9, #-32
    orr sp, x10, #0xff0
    eor sp, x11, #1
    and wsp, w9, #-16
    mov sp, #0x8000
    addg sp, x1, #16, #1
    subg sp, x2, #32, #2
    irg sp, x3
    irg sp, x3, x4
    addvl sp, x1, #-1
    addpl sp, x2, #3
    addsvl sp, x3, #1
    addspl sp, x4, #2

    /* sp within its stack */
    add sp, sp, #16
    sub sp, sp, #32
    add sp, sp, x4
    sub sp, sp, w4, uxtw
    mov sp, x29
    sub sp, x29, #16
    add sp, x29, x1
    and sp, x29, #-64
    addg sp, sp, #16, #1
    irg sp, sp
    addvl sp, sp, #-1
    addvl sp, x29, #-1
    str x0, [sp, #-16]!
    ldp x29, x30, [sp], #16

    /* register 31 that is not sp, and sp that is not written */
    adds xzr, x1, #16
    subs xzr, x1, x2
    ands xzr, x1, #1
    add xzr, x1, x2
    orr xzr, xzr, x1
    mov x0, sp
    add x0, sp, #16
    ldr xzr, [x0]
    cmp sp, x1
    rdvl xzr, #1
    msr sp_el1, x0
    nop
    bti jc
    paciasp
    autiasp
ahead:
    adr x0, back
    ldr x0, back
