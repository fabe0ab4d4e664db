/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that prints lines, and resets or goes on calling functions: see causes_test.py.
 * TELLS_PORT and TELLS_VALUE: a device of a PC that it writes to when it panics. */

#ifndef RESETS
#define RESETS 0
#endif

#ifdef __x86_64__
static void put(char c)
{
    __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((unsigned short)0x3f8));
}

static void reset(void)
{
    __asm__ volatile("outb %0, %1" : : "a"((char)6), "Nd"((unsigned short)0xcf9));
}
#elif defined __aarch64__
static void put(char c)
{
    *(volatile unsigned *)0x09000000 = (unsigned char)c;
}

static void reset(void)
{
    register unsigned long x0 __asm__("x0") = 0x84000009; /* PSCI: SYSTEM_RESET */
    __asm__ volatile("hvc #0" : "+r"(x0) : : "memory");
}
#else
static void put(char c)
{
    *(volatile char *)0x10000000 = c;
}

static void reset(void)
{
    *(volatile unsigned *)0x100000 = 0x7777;
}
#endif

static volatile unsigned sum;

__attribute__((noinline)) void leaf(void)
{
    sum += 1;
}

__attribute__((noinline)) void work(void)
{
    for (int i = 0; i < 100; i++)
        leaf();
}

__attribute__((noinline)) void print(const char *text)
{
    while (*text)
        put(*text++);
}

__attribute__((noinline)) void panic(void)
{
    print("Kernel panic - not syncing: @home\n");
#ifdef TELLS_PORT
    __asm__ volatile("outb %0, %1" : : "a"((char)TELLS_VALUE), "Nd"((unsigned short)TELLS_PORT));
#endif
    for (int i = 0; RESETS && i < 1000; i++)
        work();
    if (RESETS)
        reset();
}

__attribute__((noinline, used)) void begin(void)
{
    work();
    for (int i = 0; i < 6; i++) {
        print("[    0.1] Oops: \033[31mred\033[0m\r\n");
        work();
    }
    panic();
    for (;;)
        work();
}
