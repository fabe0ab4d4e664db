/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's aarch64 board "virt": EL1, GICv2, a PL011 as console, PSCI by hvc. */
enum {
    UART = 0x09000000,
    TRANSMITTER_EMPTY = 0x80, /* in the flags, UART + 0x18 */
    DISTRIBUTOR = 0x08000000,
    CPU_INTERFACE = 0x08010000,
    PSCI_OFF = 0x84000008,
};

/* Of the kernel: at EL2 the physical timer's registers are that of EL2. */
#if defined(GUESTS) && !defined(NVHE)
#define TIMER           "cntp"
#define TIMER_INTERRUPT 26
#else
#define TIMER           "cntv"
#define TIMER_INTERRUPT 27
#endif
#ifdef GUESTS
#define PSCI_CALL "smc"
#else
#define PSCI_CALL "hvc"
#endif

struct frame {
    unsigned long x[31], user_sp, pc, status;
};

#define FRAME_PC(f)     ((f)->pc)
#define FRAME_NUMBER(f) ((f)->x[0]) /* of a system call, and its result */
#define FRAME_ARG(f)    ((f)->x[1])

extern char vector_irq[], vector_user_irq[], k_start_other[];
void cpu_switch_to(word *from, word *to);

#define K_REG(address) (*(volatile unsigned *)(word)(address))

INLINE word k_sp(void)
{
    word sp;

    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

INLINE word k_cpu(void)
{
    word id;

    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(id));
    return id & 0xff;
}

INLINE void k_interrupts_on(void)
{
    __asm__ volatile("msr daifclr, #2" ::: "memory");
}

INLINE void k_interrupts_off(void)
{
    __asm__ volatile("msr daifset, #2" ::: "memory");
}

INLINE void k_wait(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

/* What a device has. */
INLINE unsigned k_device(void)
{
    return K_REG(UART + 0x18);
}

/* Returns when the port has sent it: its reader may be slow. */
INLINE void k_put(char c)
{
    K_REG(UART) = (unsigned char)c;
    while (!(K_REG(UART + 0x18) & TRANSMITTER_EMPTY))
        ;
}

INLINE word k_psci(word function, word a, word b, word c)
{
    register word x0 __asm__("x0") = function;
    register word x1 __asm__("x1") = a;
    register word x2 __asm__("x2") = b;
    register word x3 __asm__("x3") = c;

    __asm__ volatile(PSCI_CALL " #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
    return x0;
}

INLINE __attribute__((noreturn)) void k_power_off(void)
{
    k_psci(PSCI_OFF, 0, 0, 0);
    for (;;)
        ;
}

INLINE void k_start_cpu(word cpu)
{
    k_psci(0xc4000003, cpu, (word)k_start_other, cpu);
}

INLINE void k_init(word cpu)
{
    if (cpu == 0)
        K_REG(DISTRIBUTOR) = 1;
    K_REG(DISTRIBUTOR + 0x100) = 1u << TIMER_INTERRUPT | 0xffff;
    K_REG(CPU_INTERFACE + 4) = 0xff;
    K_REG(CPU_INTERFACE) = 1;
}

/* In the kernel of an RTOS. */
INLINE void k_trap_self(void)
{
    __asm__ volatile("svc #0" ::: "memory");
}

/* Paging: k_giants has an entry for each GiB; from HIGH on they are there a second time. */
#define HIGH      0xffffff8000000000ul
#define RAM_GIANT 1
extern volatile word k_giants[];

INLINE word k_giant(word address)
{
    return address | 0x701 | (address == 0) << 2;
}

/* 512 entries of 2 MiB, which are as those of 1 GiB. */
INLINE word k_table(word address)
{
    return address | 3;
}

/* Instructions were written. */
INLINE void k_code_changed(void)
{
    __asm__ volatile("isb" ::: "memory");
}

INLINE void k_flush(void)
{
    __asm__ volatile("dsb sy\n\ttlbi vmalle1\n\tdsb sy\n\tisb" ::: "memory");
}

INLINE void k_paging_on(void)
{
    word control;

    for (word i = 0; i < 4; i++)
        k_giants[i] = k_giant(i << 30);
    __asm__ volatile("msr mair_el1, %0\n\tmsr tcr_el1, %1\n\tmsr ttbr0_el1, %2\n\t"
                     "msr ttbr1_el1, %2" ::"r"(0xfful),
                     "r"(0x2b5193519ul), "r"(k_giants));
    k_flush();
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(control));
    __asm__ volatile("msr sctlr_el1, %0\n\tisb" ::"r"(control | 0x1005) : "memory");
}

INLINE word k_fault_address(void)
{
    word address;

    __asm__ volatile("mrs %0, far_el1" : "=r"(address));
    return address;
}

/* Result: the word there, or -1 from k_skip_load. */
INLINE word k_load(word address)
{
    register word value __asm__("x10") = 0;
    register word next __asm__("x9");

    __asm__ volatile("adr %1, 1f\n\tldr %0, [%2]\n\tadd %0, %0, #1\n\tsub %0, %0, #1\n1:"
                     : "+r"(value), "=&r"(next)
                     : "r"(address));
    return value;
}

INLINE void k_skip_load(struct frame *f)
{
    f->pc = f->x[9];
    f->x[10] = -1;
}

/* One interrupt, this many microseconds from now. */
INLINE void k_tick_after(word us)
{
    __asm__ volatile("msr " TIMER "_tval_el0, %0\n\tmsr " TIMER "_ctl_el0, %1" ::"r"(us * 62),
                     "r"(1L));
}

/* The interrupt is taken at the end of the block that this is in. */
INLINE void k_interrupt_self(void)
{
    K_REG(DISTRIBUTOR + 0xf00) = 2u << 24;
}

INLINE enum trap k_trap_kind(struct frame *f, const void *vector)
{
    word why;

    if (vector == vector_irq || vector == vector_user_irq) {
        unsigned id = K_REG(CPU_INTERFACE + 0xc);
        if ((id & 0x3ff) == TIMER_INTERRUPT)
            __asm__ volatile("msr " TIMER "_ctl_el0, %0" ::"r"(0L));
        K_REG(CPU_INTERFACE + 0x10) = id;
        return (id & 0x3ff) == TIMER_INTERRUPT ? TRAP_TICK : TRAP_SOFT;
    }
    (void)f;
    __asm__ volatile("mrs %0, esr_el1" : "=r"(why));
    return why >> 26 == 0x15 ? TRAP_CALL : TRAP_FAULT;
}

INLINE void k_kernel_stack(char *top)
{
    (void)top;
}

/* As if interrupted before its first instruction. */
INLINE void k_frame_prepare(struct frame *f, word sp, word entry, word argument, word start)
{
    (void)sp;
    f->x[19] = entry;
    f->x[20] = argument;
    f->pc = start;
    f->status = 5; /* EL1 */
}

INLINE void k_frame_prepare_user(struct frame *f, word sp, word entry, word argument)
{
    f->x[0] = argument;
    f->user_sp = sp;
    f->pc = entry;
    f->status = 0;
}

INLINE word k_frame_user_sp(const struct frame *f)
{
    return f->user_sp;
}

INLINE word k_system_call(word number, word argument)
{
    register word x0 __asm__("x0") = number;
    register word x1 __asm__("x1") = argument;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

/* x19 to x29, sp, pc */
INLINE void k_thread_prepare(word *saved, char *top, word entry, word argument, word start)
{
    saved[0] = entry;
    saved[1] = argument;
    saved[10] = 0;
    saved[11] = (word)top;
    saved[12] = start;
}
