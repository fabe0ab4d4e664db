/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System management interrupts, which no QEMU reports: at some depth the vCPU asks its APIC for
 * one. The handler, in real mode, calls a function, fills the processor's return stack, as firmware
 * does, and ends by rsm.
 *
 * arches: x86_64
 * calls: 600
 */
#include "kernel.h"

enum { TURNS = 60, ENTRY = 0x38000, DONE = 0x7f00, SELF = 0x44200 };

extern char vector_smi[], vector_smi_end[], smi_leaf[];
/* With the bases of DS and SS 0. Each turn of the loop is two calls over a trap. */
__asm__(".text\n"
        ".code16\n"
        ".balign 16\n"
        ".globl vector_smi\n"
        ".type vector_smi,@function\n"
        "vector_smi:\n"
        "mov $0xf000,%sp\n"
        "call smi_leaf\n"
        "mov $8,%cx\n"
        "1: call 3f\n"
        "2: pause\nlfence\njmp 2b\n"
        "3: call 5f\n"
        "4: pause\nlfence\njmp 4b\n"
        "5: dec %cx\n"
        "jnz 1b\n"
        "add $32,%sp\n"
        "rsm\n"
        ".size vector_smi,.-vector_smi\n"
        ".balign 16\n"
        ".globl smi_leaf\n"
        ".type smi_leaf,@function\n"
        "smi_leaf:\n"
        "incw 0x7f00\n"
        "ret\n"
        ".size smi_leaf,.-smi_leaf\n"
        ".globl vector_smi_end\n"
        "vector_smi_end:\n"
        ".code64\n");

OWN static void leaf(void)
{
    CALLED(leaf);
}

OWN static void interrupt(void)
{
    CALLED(interrupt);
    volatile unsigned short *done = (volatile unsigned short *)DONE;
    unsigned short before = *done;

    k_enter(vector_smi);
    k_enter(smi_leaf);
    k_leave();
    k_leave();
    K_APIC(0x300) = SELF;
    while (*done == before)
        ;
}

OWN static void walk(word depth, word *seed)
{
    CALLED(walk);
    leaf();
    if (k_random(seed) % 3 == 0)
        interrupt();
    for (word n = 1 + k_random(seed) % 2; depth > 0 && n > 0; n--)
        walk(depth - 1, seed);
    leaf();
}

OWN void run(void)
{
    CALLED(run);
    volatile char *to = (volatile char *)ENTRY;
    word seed = 7;

    for (const char *from = vector_smi; from < vector_smi_end; from++)
        *to++ = *from;
    k_place(ENTRY - (word)vector_smi);
    for (unsigned i = 0; i < TURNS; i++) {
        interrupt();
        walk(4, &seed);
    }
}
