/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies the instructions on stdin, for objdump_check.py.
 *
 *   classify_tool ARCH     ARCH is a QEMU target name
 *
 * A line of input is "PC BYTES", both hexadecimal, the bytes in memory order; a line of output is
 * the kind's number in enum gt_arch_insn_kind, the target in hexadecimal, whether the instruction
 * is conditional, and whether may_follow_call says so after it. With no input left it prints
 * nothing more; with a line it cannot read it exits 2. `classify_tool --kinds` prints the names of
 * the kinds, one a line, in order.
 */
#include "guest/arch/arch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_INSN = 32 };

/* The bytes of a run of hexadecimal digits; 0 where it is none or too long. */
static size_t parse_bytes(const char *hex, uint8_t out[LONGEST_INSN])
{
    size_t n = 0;

    for (; n < LONGEST_INSN && hex[0] && hex[1]; hex += 2, n++) {
        char pair[3] = {hex[0], hex[1], 0};
        char *end;

        out[n] = (uint8_t)strtoul(pair, &end, 16);
        if (*end)
            return 0;
    }
    return *hex ? 0 : n;
}

static int classify_line(const struct gt_arch *arch, char *line)
{
    uint8_t bytes[LONGEST_INSN];
    struct gt_arch_insn insn;
    char *hex;
    uint64_t pc = strtoull(line, &hex, 16);
    size_t size;
    uint8_t *copy;

    if (*hex++ != ' ')
        return -1;
    hex[strcspn(hex, "\n")] = 0;
    size = parse_bytes(hex, bytes);
    if (size == 0)
        return -1;
    /* of its exact size, for the address sanitizer and valgrind to watch */
    copy = malloc(size);
    if (!copy)
        return -1;
    memcpy(copy, bytes, size);
    arch->classify(copy, size, pc, &insn);
    printf("%u %" PRIx64 " %d %d\n", insn.kind, insn.target, insn.conditional,
           arch->may_follow_call(copy + size, size));
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    const struct gt_arch *arch;
    char line[256];

    if (argc != 2) {
        fprintf(stderr, "usage: classify_tool ARCH | --kinds\n");
        return 2;
    }
    if (strcmp(argv[1], "--kinds") == 0) {
        for (unsigned k = 0; strcmp(gt_arch_insn_kind_name(k), "unknown") != 0; k++)
            puts(gt_arch_insn_kind_name(k));
        return 0;
    }
    arch = gt_arch_by_target(argv[1]);
    if (!arch) {
        fprintf(stderr, "classify_tool: no architecture %s\n", argv[1]);
        return 2;
    }
    while (fgets(line, sizeof line, stdin))
        if (classify_line(arch, line) < 0) {
            fprintf(stderr, "classify_tool: cannot read: %s\n", line);
            return 2;
        }
    return 0;
}
