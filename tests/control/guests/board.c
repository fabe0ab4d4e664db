/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine, QEMU's aarch64 board "virt", that computes without end. */
#include <stdint.h>

#define FUNCTION __attribute__((noinline)) static

void start(void);

__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "    ldr x0, =0x40200000\n"
        "    mov sp, x0\n"
        "    bl start\n"
        "    b .\n"
        ".size _start, . - _start\n");

FUNCTION uint32_t mix(uint32_t a, uint32_t b)
{
    for (int i = 0; i < 4; i++)
        a = a * 1664525 + (b >> i) + 1013904223;
    return a;
}

FUNCTION uint32_t halve(uint32_t n)
{
    return n ? mix(n, halve(n / 2)) : 1;
}

void start(void)
{
    volatile uint32_t sum = 0;
    for (uint32_t n = 0;; n++)
        sum += halve(n % 64);
}
