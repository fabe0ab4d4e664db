/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every form that arch_riscv64.c tells apart, and neighbours it must not take for one. */
    .text
    .macro forms
1:
    jal ra, 1b
    jal t0, 1b
    jal x0, 2f
    jal x6, 1b
    jalr ra, a0
    jalr ra, 8(a0)
    jalr t0, a1
    jalr t0, t0
    jalr ra, ra
    jalr ra, t0
    jalr t0, ra
    jalr x0, ra
    jalr x0, t0
    jalr x0, 4(ra)
    jalr t1, ra
    jalr t1, t3
    jalr x0, a5
    jalr x0, 16(a5)
    jalr sp, a5
    beq a0, a1, 1b
    bne a0, a1, 1b
    blt a0, a1, 2f
    bge a0, a1, 2f
    bltu a0, a1, 1b
    bgeu a0, a1, 2f
    beqz s0, 1b
    bnez s1, 2f
    beqz a6, 1b
    blez a0, 1b
    bgez a0, 1b
    bltz a0, 1b
    bgtz a0, 1b
    j 1b
    j 2f
    ebreak

    mv sp, a0
    mv sp, t6
    addi sp, a0, 16
    addi sp, a0, -1024
    add sp, a0, a1
    sub sp, a0, a1
    and sp, t1, t0
    andi sp, a0, -16
    slli sp, a0, 3
    addiw sp, a0, 4
    addw sp, a0, a1
    li sp, 0
    li sp, 31
    lui sp, 0x80010
    auipc sp, 16
    ld sp, 0(a0)
    ld sp, 16(sp)
    ld sp, 504(sp)
    ld sp, 512(sp)
    ld sp, -16(s0)
    lw sp, 0(tp)
    lw sp, 16(sp)
    lwu sp, 0(a0)
    amoswap.d sp, a0, (a1)
    amoadd.w.aqrl sp, a0, (a1)
    lr.d sp, (a0)
    sh1add sp, a0, a1
    csrrw sp, sscratch, sp
    csrrw sp, mscratch, sp
    csrrw sp, mscratch, a0
    csrr sp, sscratch
    csrrci sp, sscratch, 1
    frcsr sp
    rdtime sp

    mv sp, s0
    addi sp, sp, -16
    addi sp, sp, 496
    addi sp, sp, -2048
    addi sp, s0, -64
    add sp, sp, a0
    add sp, s0, a0
    add sp, a0, sp
    sub sp, sp, a0
    andi sp, sp, -16
    slli sp, sp, 1
    addiw sp, sp, 0
    xor sp, sp, tp
    sc.d sp, a0, (a1)
    sd sp, 16(sp)
    sd sp, 0(a0)
    sw sp, 0(sp)
    mv a0, sp
    add a0, sp, a1
    add s0, sp, 32
    fsd fs0, 8(sp)
    fld fs0, 8(sp)
    fld f2, 8(sp)
    fmv.d.x f2, a0
    nop
    ret
2:
    .endm

    .option rvc
    forms
    .option norvc
    forms
    .option rvc

    c.unimp
    unimp
    .4byte 0xc0001073
    c.ebreak
    ecall
    uret
    sret
    mret
    dret
    wfi
    sfence.vma
    sinval.vma a0, a1
    fence.i

    .irp csr, 0x005, stvec, 0x205, mtvec
    csrw \csr, a0
    csrwi \csr, 4
    csrs \csr, a1
    csrc \csr, a2
    csrsi \csr, 1
    csrci \csr, 1
    csrrw a0, \csr, a1
    csrrw a0, \csr, zero
    csrrs a0, \csr, a1
    csrrs a0, \csr, zero
    csrrc a0, \csr, zero
    csrrsi a0, \csr, 0
    csrrci a0, \csr, 0
    csrrsi a0, \csr, 1
    .endr
    csrrw sp, stvec, sp
    csrr a0, mtvec
    csrw mscratch, a0
    csrw sscratch, sp
    csrw mepc, sp
    csrrw tp, sscratch, tp
