/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that calls a few functions, and then hangs in one that calls none: see hang_test.py. */

/* The image begins with it. */
#ifdef __aarch64__
__asm__(".globl _start\n_start: ldr x0, =room + 4096\nmov sp, x0\nbl begin\n.ltorg\n");
#else
__asm__(".globl _start\n_start: la sp, room + 4096\ncall begin\n");
#endif
char room[4096] __attribute__((aligned(16)));

enum { CALLS = 20 };

static volatile unsigned sum;

__attribute__((noinline)) void leaf(void)
{
    sum += 1;
}

__attribute__((noinline)) void hang(void)
{
    for (;;)
        sum += 2;
}

__attribute__((noinline, used)) void begin(void)
{
    for (unsigned i = 0; i < CALLS; i++)
        leaf();
    hang();
}
