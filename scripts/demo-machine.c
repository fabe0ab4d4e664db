/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine of `make run`: prints primes on QEMU's aarch64 board "virt" and powers off. */
#include <stdint.h>

#define UART            ((volatile uint32_t *)0x09000000)
#define PSCI_SYSTEM_OFF 0x84000008

void start_kernel(void);

__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "    ldr x0, =0x40200000\n"
        "    mov sp, x0\n"
        "    bl start_kernel\n"
        "    b .\n"
        ".size _start, . - _start\n");

__attribute__((noinline)) static void uart_put(char c)
{
    *UART = (uint32_t)c;
}

__attribute__((noinline)) static void print(uint32_t n)
{
    if (n >= 10)
        print(n / 10);
    uart_put((char)('0' + n % 10));
}

__attribute__((noinline)) static int is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++) {
        if (n % d == 0)
            return 0;
    }
    return n > 1;
}

__attribute__((noinline)) static void power_off(void)
{
    register uint64_t x0 __asm__("x0") = PSCI_SYSTEM_OFF;
    __asm__ volatile("hvc #0" : "+r"(x0));
}

void start_kernel(void)
{
    for (uint32_t n = 0; n < 50; n++) {
        if (is_prime(n)) {
            print(n);
            uart_put(' ');
        }
    }
    uart_put('\n');
    power_off();
}
