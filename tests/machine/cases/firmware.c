/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of what is below the kernel: of QEMU itself (PSCI, semihosting), which are no calls of the
 * guest's; on riscv64 of M mode too, whose handler's calls are in those of the kernel.
 *
 * arches: aarch64 riscv64
 * machine: -semihosting-config enable=on,target=native
 * calls: 500
 * same: 7.2 10.0 11.1
 */
#include "kernel.h"

enum { TURNS = 100, TIME = 0x11 };

OWN static void leaf(void)
{
    CALLED(leaf);
}

#ifdef __aarch64__
OWN static void call_firmware(word n)
{
    CALLED(call_firmware);
    word version;

    if (n > 0)
        call_firmware(n - 1);
    version = k_psci(0x84000000, 0, 0, 0);
    leaf();
    if (version >> 16 == 0)
        k_panic("PSCI version", version);
}

OWN static word call_host(word operation, word argument)
{
    CALLED(call_host);
    register word x0 __asm__("x0") = operation;
    register word x1 __asm__("x1") = argument;

    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}
#else
OWN static void firmware_works(word n)
{
    CALLED(firmware_works);
    if (n > 0)
        firmware_works(n - 1);
    leaf();
}

OWN void machine_call(struct frame *f)
{
    CALLED(machine_call);
    firmware_works(FRAME_NUMBER(f));
    f->pc += 4;
}

OWN static void call_firmware(word n)
{
    CALLED(call_firmware);
    if (n > 0)
        call_firmware(n - 1);
    k_system_call(n, 0);
    leaf();
}

OWN static word call_host(word operation, word argument)
{
    CALLED(call_host);
    register word a0 __asm__("a0") = operation;
    register word a1 __asm__("a1") = argument;

    __asm__ volatile(
        ".option push\n\t.option norvc\n\t.balign 16\n\tslli x0, x0, 0x1f\n\tebreak\n\t"
        "srai x0, x0, 7\n\t.option pop"
        : "+r"(a0)
        : "r"(a1)
        : "memory");
    return a0;
}
#endif

OWN void run(void)
{
    CALLED(run);
    for (unsigned i = 0; i < TURNS; i++) {
        call_firmware(i % 3);
        if (call_host(TIME, 0) == 0)
            k_panic("time", 0);
        leaf();
    }
}
