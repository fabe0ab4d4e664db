/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's riscv64 board "virt" without firmware. The kernel is in S mode; M mode (machine.c) turns
 * the timer's interrupts and those between harts into software interrupts of S, k_reasons saying
 * why.
 */
enum {
    UART = 0x10000000,
    TRANSMITTER_EMPTY = 0x40, /* in the line status, UART + 5 */
    TEST_DEVICE = 0x100000,
    POWER_OFF = 0x5555,
    CLINT = 0x2000000,
    MICROSECOND = 10, /* of mtime */
    REASON_TICK = 1,
    REASON_SOFT = 2,
};

struct frame {
    unsigned long x[32], pc, status;
};

#define FRAME_PC(f)     ((f)->pc)
#define FRAME_NUMBER(f) ((f)->x[10]) /* of a system call, and its result */
#define FRAME_ARG(f)    ((f)->x[11])

extern unsigned k_reasons[];
void cpu_switch_to(word *from, word *to);

INLINE word k_sp(void)
{
    word sp;

    __asm__ volatile("mv %0, sp" : "=r"(sp));
    return sp;
}

/* Every hart keeps its number there. */
INLINE word k_cpu(void)
{
    word id;

    __asm__ volatile("mv %0, tp" : "=r"(id));
    return id;
}

INLINE void k_interrupts_on(void)
{
    __asm__ volatile("csrsi sstatus, 2" ::: "memory");
}

INLINE void k_interrupts_off(void)
{
    __asm__ volatile("csrci sstatus, 2" ::: "memory");
}

INLINE void k_wait(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

/* What a device has. */
INLINE unsigned k_device(void)
{
    return *(volatile unsigned char *)(word)(UART + 5);
}

/* Returns when the port has sent it: its reader may be slow. */
INLINE void k_put(char c)
{
    *(volatile unsigned char *)(word)UART = c;
    while (!(*(volatile unsigned char *)(word)(UART + 5) & TRANSMITTER_EMPTY))
        ;
}

INLINE __attribute__((noreturn)) void k_power_off(void)
{
    *(volatile unsigned *)(word)TEST_DEVICE = POWER_OFF;
    for (;;)
        ;
}

INLINE void k_interrupt_cpu(word cpu)
{
    *(volatile unsigned *)(CLINT + 4 * cpu) = 1;
}

/* The interrupt is taken at the end of the block that this is in. */
INLINE void k_interrupt_self(void)
{
    k_interrupt_cpu(k_cpu());
}

extern volatile unsigned k_may_start[];

INLINE void k_start_cpu(word cpu)
{
    k_may_start[cpu] = 1;
    k_interrupt_cpu(cpu);
}

INLINE void k_init(word cpu)
{
    (void)cpu;
}

/* In the kernel of an RTOS. */
INLINE void k_trap_self(void)
{
    __asm__ volatile(".option push\n\t.option norvc\n\tebreak\n\t.option pop" ::: "memory");
}

/* Paging: k_giants has an entry for each GiB; from HIGH on they are there a second time. */
#define HIGH      0xffffffc000000000ul
#define RAM_GIANT 2
extern volatile word k_giants[];

INLINE word k_giant(word address)
{
    return address >> 2 | 0xcf;
}

/* 512 entries of 2 MiB, which are as those of 1 GiB. */
INLINE word k_table(word address)
{
    return address >> 2 | 1;
}

/* Instructions were written. */
INLINE void k_code_changed(void)
{
    __asm__ volatile("fence.i" ::: "memory");
}

INLINE void k_flush(void)
{
    __asm__ volatile("sfence.vma" ::: "memory");
}

INLINE void k_paging_on(void)
{
    for (word i = 0; i < 4; i++)
        k_giants[i] = k_giants[256 + i] = k_giant(i << 30);
    __asm__ volatile("csrw satp, %0\n\tsfence.vma" ::"r"(8ul << 60 | (word)k_giants >> 12)
                     : "memory");
}

INLINE word k_fault_address(void)
{
    word address;

    __asm__ volatile("csrr %0, stval" : "=r"(address));
    return address;
}

/* Result: the word there, or -1 from k_skip_load. */
INLINE word k_load(word address)
{
    register word value __asm__("a6") = 0;
    register word next __asm__("a7");

    __asm__ volatile("la %1, 1f\n\tld %0, (%2)\n\taddi %0, %0, 1\n\taddi %0, %0, -1\n1:"
                     : "+r"(value), "=&r"(next)
                     : "r"(address));
    return value;
}

INLINE void k_skip_load(struct frame *f)
{
    f->pc = f->x[17];
    f->x[16] = -1;
}

/* One interrupt, this many microseconds from now. */
INLINE void k_tick_after(word us)
{
    word now = *(volatile word *)(CLINT + 0xbff8ul);

    *(volatile word *)(CLINT + 0x4000 + 8 * k_cpu()) = now + us * MICROSECOND;
}

INLINE enum trap k_trap_kind(struct frame *f, const void *vector)
{
    word cause, cpu = k_cpu();
    unsigned reasons;

    (void)vector;
    __asm__ volatile("csrr %0, scause" : "=r"(cause));
    if ((long)cause >= 0 && cause != 3 && cause != 8)
        return TRAP_FAULT;
    if ((long)cause >= 0) {
        f->pc += 4;
        return TRAP_CALL;
    }
    __asm__ volatile("csrci sip, 2" ::: "memory");
    reasons = __atomic_load_n(&k_reasons[cpu], __ATOMIC_SEQ_CST);
    if (reasons & REASON_SOFT) {
        __atomic_fetch_and(&k_reasons[cpu], ~REASON_SOFT, __ATOMIC_SEQ_CST);
        if (reasons & REASON_TICK)
            __asm__ volatile("csrsi sip, 2" ::: "memory");
        return TRAP_SOFT;
    }
    __atomic_fetch_and(&k_reasons[cpu], ~REASON_TICK, __ATOMIC_SEQ_CST);
    return TRAP_TICK;
}

INLINE void k_kernel_stack(char *top)
{
    (void)top;
}

/* As if interrupted before its first instruction. */
INLINE void k_frame_prepare(struct frame *f, word sp, word entry, word argument, word start)
{
    f->x[2] = sp;
    f->x[9] = entry;
    f->x[18] = argument;
    f->pc = start;
    f->status = 0x120; /* S, interrupts will be on */
}

INLINE void k_frame_prepare_user(struct frame *f, word sp, word entry, word argument)
{
    f->x[2] = sp;
    f->x[10] = argument;
    f->pc = entry;
    f->status = 0x20;
}

/* The user's to S. */
INLINE word k_frame_user_sp(const struct frame *f)
{
    return f->x[2];
}

INLINE word k_system_call(word number, word argument)
{
    register word a0 __asm__("a0") = number;
    register word a1 __asm__("a1") = argument;

    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1) : "memory");
    return a0;
}

/* ra, sp, s0 to s11 */
INLINE void k_thread_prepare(word *saved, char *top, word entry, word argument, word start)
{
    saved[0] = start;
    saved[1] = (word)top;
    saved[2] = 0;
    saved[3] = entry;
    saved[4] = argument;
}
