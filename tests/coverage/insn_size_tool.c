/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sizes of the instructions on stdin, a line each: insn_size_tool E_MACHINE BITS; a line is the
 * instruction's bytes and those behind it, in hex. */
#include "guest/arch/insn_size.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const struct gt_arch *arch =
        argc == 3 ? gt_arch_by_elf((uint16_t)atoi(argv[1]), (unsigned)atoi(argv[2])) : NULL;
    char line[256];

    if (!gt_arch_insn_size_known(arch))
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        uint8_t bytes[64];
        size_t n = 0;
        unsigned byte;
        while (n < sizeof bytes && sscanf(line + 2 * n, "%2x", &byte) == 1)
            bytes[n++] = (uint8_t)byte;
        /* of its own size, so that a read beyond it is seen */
        uint8_t *exact = malloc(n ? n : 1);
        if (!exact)
            return 1;
        for (size_t i = 0; i < n; i++)
            exact[i] = bytes[i];
        printf("%zu\n", n ? gt_arch_insn_size(arch, exact, n) : 0);
        free(exact);
    }
    return 0;
}
