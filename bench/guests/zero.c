/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zeroes a line of memory so often, with an instruction whose access QEMU does not report. */
#include <stdlib.h>

static char line[4096] __attribute__((aligned(4096)));

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1;
    while (n-- > 0)
        __asm__ volatile("dc zva, %0" : : "r"(line) : "memory");
    return 0;
}
