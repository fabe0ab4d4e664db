/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs instructions of one kind: "unreported KIND N", N times each; see unreported_test.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned char buf[4096] __attribute__((aligned(4096)));

#if defined __aarch64__
#define TO    "adrp x0, buf\n add x0, x0, :lo12:buf\n"
#define SPOIL "x0", "x1", "x2", "x3", "x4", "x5", "v0", "v1", "memory"
#define KINDS                                                                                      \
    X("zero-line", TO "dc zva, x0")                                                                \
    X("memory-set", TO "mov x1, #40\n mov x2, #7\n .inst 0x19c20420\n .inst 0x19c24420\n"          \
                       ".inst 0x19c28420")                                                         \
    X("memory-copy", TO "add x1, x0, #1024\n mov x2, #40\n .inst 0x19010440\n .inst 0x19410440\n"  \
                        ".inst 0x19810440")                                                        \
    X("sve-gather", ".arch armv8-a+sve\n" TO "ptrue p0.d, vl1\n index z1.d, #0, #8\n"              \
                    "ld1d z0.d, p0/z, [x0, z1.d]\n st1d z0.d, p0, [x0, z1.d]")
#elif defined __x86_64__
#define SPOIL "rax", "rcx", "rdx", "memory"
#define KINDS                                                                                      \
    X("x87-80-bits", "fldz\n fstpt buf(%%rip)\n fldt buf(%%rip)\n fstpt buf(%%rip)")               \
    X("x87-state", "fnstenv buf(%%rip)\n fldenv buf(%%rip)")                                       \
    X("fxsave", "fxsave buf(%%rip)\n fxrstor buf(%%rip)")                                          \
    X("xsave", "mov $3, %%eax\n xor %%edx, %%edx\n xsave buf(%%rip)")
#else
#define SPOIL "a0", "memory"
#define KINDS X("zero-line", "la a0, buf\n .insn i 0x0f, 2, x0, a0, 4")
#endif

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 0;
    if (argc < 2)
        return 1;
#define X(kind, ...)                                                                               \
    for (long i = 0; !strcmp(argv[1], kind) && i < n; i++)                                         \
        __asm__ volatile(__VA_ARGS__ : : : SPOIL);
    KINDS
    return 0;
}
