/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the beginning of an etrace stream to standard output, from structs as the readers and
 * writers in the field declare them: only the outer one is packed. What they leave unset is
 * GARBAGE.
 *
 *   -DMACHINE=N -DBITS=32|64 [-DGARBAGE=0xNN]
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef GARBAGE
#define GARBAGE 0
#endif

struct side {
    uint32_t machine;
    uint8_t bits, big_endian;
};

struct arch {
    struct side guest, host;
} __attribute__((packed));

#if BITS == 32
typedef uint32_t address;
#else
typedef uint64_t address;
#endif

struct entry {
    uint32_t duration;
    address start, end;
} __attribute__((packed));

struct exec {
    uint64_t start_time;
    struct entry entries[2];
} __attribute__((packed));

static void packet(uint16_t type, uint16_t unit, const void *body, uint32_t len)
{
    fwrite(&type, sizeof type, 1, stdout);
    fwrite(&unit, sizeof unit, 1, stdout);
    fwrite(&len, sizeof len, 1, stdout);
    fwrite(body, len, 1, stdout);
}

int main(void)
{
    static const uint8_t info[12];
    const struct exec exec = {5, {{1, 0x80000000, 0x80000004}, {2, 0, 0x80000010}}};
    struct arch arch;

    memset(&arch, GARBAGE, sizeof arch);
    arch.guest.machine = MACHINE;
    arch.guest.bits = BITS;
    packet(0x4554, 0, info, sizeof info);
    packet(5, 0, &arch, sizeof arch);
    packet(1, 3, &exec, sizeof exec);
    return 0;
}
