/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "pc" with the image as its firmware: a serial port as console, the local APIC; the
 * keyboard controller's reset ends the machine (-no-reboot). */
enum {
    SERIAL = 0x3f8,
    TRANSMITTER_EMPTY = 0x40, /* in the line status, SERIAL + 5 */
    KERNEL_CODE = 0x18,
    KERNEL_DATA = 0x20,
    USER_DATA = 0x33,
    USER_CODE = 0x3b,
    FIRST_TSS = 0x40,
    TICK_VECTOR = 0x30,
    SOFT_VECTOR = 0x31,
};
#define APIC 0xfee00000ul

struct frame {
    unsigned long r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
    unsigned long error, pc, cs, flags, sp, ss;
};

#define FRAME_PC(f)     ((f)->pc)
#define FRAME_NUMBER(f) ((f)->rax) /* of a system call, and its result */
#define FRAME_ARG(f)    ((f)->rdi)

extern char vector_tick[], vector_soft[], vector_call[], vector_syscall[];
void cpu_switch_to(word *from, word *to);
void k_x86_init(word cpu);
/* Page faults go on there. */
void k_fault_stack(char *top);

#define K_APIC(offset) (*(volatile unsigned *)(APIC + (offset)))

INLINE word k_sp(void)
{
    word sp;

    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
    return sp;
}

INLINE word k_cpu(void)
{
    return K_APIC(0x20) >> 24;
}

INLINE void k_interrupts_on(void)
{
    __asm__ volatile("sti" ::: "memory");
}

INLINE void k_interrupts_off(void)
{
    __asm__ volatile("cli" ::: "memory");
}

INLINE void k_wait(void)
{
    __asm__ volatile("hlt" ::: "memory");
}

INLINE void k_out(unsigned short port, unsigned char value)
{
    __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

INLINE unsigned char k_in(unsigned short port)
{
    unsigned char value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

/* What a device has. */
INLINE unsigned k_device(void)
{
    return K_APIC(0x20);
}

/* Returns when the port has sent it: its reader may be slow. */
INLINE void k_put(char c)
{
    k_out(SERIAL, c);
    while (!(k_in(SERIAL + 5) & TRANSMITTER_EMPTY))
        ;
}

INLINE __attribute__((noreturn)) void k_power_off(void)
{
    k_out(0x64, 0xfe);
    for (;;)
        k_wait();
}

/* At 0xf0000, where the image was first. */
INLINE void k_start_cpu(word cpu)
{
    K_APIC(0x310) = cpu << 24;
    K_APIC(0x300) = 0x4500;
    K_APIC(0x300) = 0x46f0;
}

INLINE void k_init(word cpu)
{
    k_x86_init(cpu);
}

/* In the kernel of an RTOS. */
INLINE void k_trap_self(void)
{
    __asm__ volatile("int $0x80" ::: "memory");
}

/* Paging: k_giants has an entry for each GiB; from HIGH on they are there a second time. */
#define HIGH      0xffffff8000000000ul
#define RAM_GIANT 0
#define k_giants  ((volatile word *)0x2000)

INLINE word k_giant(word address)
{
    return address | 0x87;
}

/* 512 entries of 2 MiB, which are as those of 1 GiB. */
INLINE word k_table(word address)
{
    return address | 7;
}

/* Instructions were written. */
INLINE void k_code_changed(void)
{
    __asm__ volatile("" ::: "memory");
}

INLINE void k_flush(void)
{
    word table;

    __asm__ volatile("mov %%cr3, %0\n\tmov %0, %%cr3" : "=r"(table)::"memory");
}

/* It is on. */
INLINE void k_paging_on(void)
{
    ((volatile word *)0x1000)[511] = (word)k_giants | 7;
    k_flush();
}

INLINE word k_fault_address(void)
{
    word address;

    __asm__ volatile("mov %%cr2, %0" : "=r"(address));
    return address;
}

/* Result: the word there, or -1 from k_skip_load. */
INLINE word k_load(word address)
{
    register word value __asm__("r10") = 0;
    register word next __asm__("r9");

    __asm__ volatile("lea 1f(%%rip), %1\n\tmov (%2), %0\n\tinc %0\n\tdec %0\n1:"
                     : "+r"(value), "=&r"(next)
                     : "r"(address));
    return value;
}

INLINE void k_skip_load(struct frame *f)
{
    f->pc = f->r9;
    f->r10 = -1;
}

/* One interrupt, this many microseconds from now. */
INLINE void k_tick_after(word us)
{
    K_APIC(0x380) = us * 1000;
}

/* The interrupt is taken at the end of the block that this is in. */
INLINE void k_interrupt_self(void)
{
    K_APIC(0x300) = 0x40000 | SOFT_VECTOR;
}

INLINE void k_interrupt_cpu(word cpu)
{
    K_APIC(0x310) = cpu << 24;
    K_APIC(0x300) = SOFT_VECTOR;
}

INLINE enum trap k_trap_kind(struct frame *f, const void *vector)
{
    (void)f;
    if (vector == vector_tick || vector == vector_soft)
        K_APIC(0xb0) = 0;
    if (vector == vector_tick)
        return TRAP_TICK;
    if (vector == vector_soft)
        return TRAP_SOFT;
    return vector == vector_call || vector == vector_syscall ? TRAP_CALL : TRAP_FAULT;
}

void k_kernel_stack(char *top);

/* As if interrupted before its first instruction. */
INLINE void k_frame_prepare(struct frame *f, word sp, word entry, word argument, word start)
{
    f->rbx = entry;
    f->r12 = argument;
    f->pc = start;
    f->cs = KERNEL_CODE;
    f->flags = 0x202;
    f->sp = sp;
    f->ss = KERNEL_DATA;
}

INLINE void k_frame_prepare_user(struct frame *f, word sp, word entry, word argument)
{
    f->rdi = argument;
    f->pc = entry;
    f->cs = USER_CODE;
    f->flags = 0x202;
    f->sp = sp - 8;
    f->ss = USER_DATA;
}

INLINE word k_interrupt_call(word number, word argument)
{
    __asm__ volatile("int $0x80" : "+a"(number) : "D"(argument) : "memory");
    return number;
}

INLINE word k_frame_user_sp(const struct frame *f)
{
    return f->sp;
}

INLINE word k_system_call(word number, word argument)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(argument) : "rcx", "r11", "memory");
    return number;
}

/* On the stack: r15 to r12, rbx, rbp, the return address. */
INLINE void k_thread_prepare(word *saved, char *top, word entry, word argument, word start)
{
    word *sp = (word *)top - 7;

    sp[0] = sp[1] = sp[2] = sp[5] = 0;
    sp[3] = argument;
    sp[4] = entry;
    sp[6] = start;
    saved[0] = (word)sp;
}
