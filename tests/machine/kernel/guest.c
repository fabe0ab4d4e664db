/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How virtual machines begin: see guest.h. */
#ifdef GUESTS
#include "guest.h"

enum { MOST = 4 };

#if defined(__aarch64__)
extern const word k_guest_vector_table;
static word tables[MOST][512] __attribute__((aligned(4096)));

INLINE void prepare(struct guest *g, unsigned number)
{
    for (word i = 0; i < 4; i++)
        tables[number][i] = i << 30 | 0x7fd; /* 1 GiB each, where it is */
    g->tables = (word)tables[number];
    g->vector = k_guest_vector_table;
    g->status = 0x3c5; /* EL1 */
}
#elif defined(__riscv)
INLINE void prepare(struct guest *g, unsigned number)
{
    (void)number;
    g->x[4] = k_cpu();
    __asm__ volatile("csrs 0x602, %0" ::"r"(8l)); /* hedeleg: ebreak */
}
#else
enum { GATES = 0x82, INTERRUPT = 0x8e, GDTR = 6, IDTR = 8 };
enum {
    INTERCEPTS = 0x0c, /* and 0x10: INTR; vmrun, vmmcall */
    ASID = 0x58,
    SEGMENTS = 0x400, /* es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr */
    EFER = 0x4d0,
    CR4 = 0x548,
    CR3 = 0x550,
    CR0 = 0x558,
    FLAGS = 0x570,
    PC = 0x578,
    SP = 0x5d8,
    STATE = 0x1d01, /* of EFER: long mode, SVM, no-execute, system calls */
};

static char blocks[MOST][4096] __attribute__((aligned(4096)));
static char saved[4096] __attribute__((aligned(4096)));
static struct {
    unsigned short low, selector;
    unsigned char stack, type;
    unsigned short middle;
    unsigned high, zero;
} gates[GATES];

INLINE void put(char *block, unsigned at, word value)
{
    *(volatile word *)(block + at) = value;
}

INLINE void put_segment(char *block, unsigned i, word selector, word type)
{
    put(block, SEGMENTS + 16 * i, selector | type << 16 | 0xffffffffull << 32);
    put(block, SEGMENTS + 16 * i + 8, 0);
}

INLINE word control(unsigned i)
{
    word value;

    if (i == 0)
        __asm__ volatile("mov %%cr0, %0" : "=r"(value));
    else if (i == 3)
        __asm__ volatile("mov %%cr3, %0" : "=r"(value));
    else
        __asm__ volatile("mov %%cr4, %0" : "=r"(value));
    return value;
}

INLINE word descriptors(void)
{
    struct {
        unsigned short limit;
        word base;
    } __attribute__((packed)) table;

    __asm__ volatile("sgdt %0" : "=m"(table));
    return table.base;
}

INLINE void write_msr(unsigned msr, word value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((unsigned)value), "d"(value >> 32));
}

INLINE void prepare(struct guest *g, unsigned number)
{
    char *block = blocks[number];
    word at = (word)vector_guest;

    gates[GATES - 1].low = at & 0xffff;
    gates[GATES - 1].selector = KERNEL_CODE;
    gates[GATES - 1].type = INTERRUPT;
    gates[GATES - 1].middle = at >> 16 & 0xffff;
    gates[GATES - 1].high = at >> 32;
    *(volatile unsigned *)(block + INTERCEPTS) = 1;
    *(volatile unsigned *)(block + INTERCEPTS + 4) = 3;
    *(volatile unsigned *)(block + ASID) = number + 1;
    put_segment(block, 0, KERNEL_DATA, 0xc93);
    put_segment(block, 1, KERNEL_CODE, 0xa9b);
    put_segment(block, 2, KERNEL_DATA, 0xc93);
    put_segment(block, 3, KERNEL_DATA, 0xc93);
    put_segment(block, GDTR, 0, 0);
    put(block, SEGMENTS + 16 * GDTR + 8, descriptors());
    put_segment(block, IDTR, 0, 0);
    put(block, SEGMENTS + 16 * IDTR + 8, (word)gates);
    put(block, EFER, STATE);
    put(block, CR0, control(0));
    put(block, CR3, control(3));
    put(block, CR4, control(4));
    put(block, FLAGS, 0x202);
    put(block, PC, g->pc);
    put(block, SP, g->sp - 8);
    g->control = (word)block;
    g->x[3] = g->x[0];
    write_msr(0xc0000080, 0x1501); /* EFER: SVM, too */
    write_msr(0xc0010117, (word)saved);
}
#endif

OWN void k_guest_init(struct guest *g, unsigned number, word entry, word top, word argument)
{
    if (number >= MOST)
        k_panic("too many guests", number);
    g->pc = entry;
    g->sp = top;
    g->x[0] = g->x[10] = argument;
    prepare(g, number);
}
#endif
