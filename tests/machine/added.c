/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A PC that waits until a vCPU was added, and starts it: see added_test.py. */

#define N __attribute__((noinline))

enum { DATA = 0x3f8, STATUS = 0x3fd };
enum {
    APIC = 0xfee00000,
    ENABLE = 0xf0,
    COMMAND = 0x300,
    INIT_OTHERS = 0xc4500,
    START_OTHERS = 0xc46f0
};

static volatile unsigned sum, done;

static unsigned char from(unsigned short port)
{
    unsigned char c;
    __asm__ volatile("inb %1, %0" : "=a"(c) : "Nd"(port));
    return c;
}

static void to(unsigned short port, char c)
{
    __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"(port));
}

static volatile unsigned *apic(unsigned long reg)
{
    return (volatile unsigned *)(APIC + reg);
}

N void leaf(void)
{
    sum += 1;
}

/* By the vCPU that was added. */
N __attribute__((used)) void other(void)
{
    for (int i = 0; i < 10; i++)
        leaf();
    done = 1;
}

N void added(void)
{
    *apic(ENABLE) |= 0x100;
    *apic(COMMAND) = INIT_OTHERS;
    for (int i = 0; i < 1000; i++)
        leaf();
    *apic(COMMAND) = START_OTHERS;
    while (!done)
        ;
}

N __attribute__((used)) void begin(void)
{
    for (int i = 0; i < 1000; i++)
        leaf();
    to(DATA, 'r');
    while (!(from(STATUS) & 1))
        ;
    from(DATA);
    added();
}
