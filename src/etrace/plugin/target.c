/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's targets: see target.h. */
#include "etrace/plugin/target.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__i386__)
#define HOST_MACHINE EM_386
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__arm__)
#define HOST_MACHINE EM_ARM
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define HOST_MACHINE EM_PPC64
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#elif defined(__mips__)
#define HOST_MACHINE EM_MIPS
#else
#define HOST_MACHINE EM_NONE
#endif

enum { HEXAGON = 164, LOONGARCH = 258, ALPHA = 0x9026 };

static const struct {
    const char *name;
    struct gt_etrace_arch_side side;
} targets[] = {
    {"aarch64", {EM_AARCH64, 64, 0}},
    {"aarch64_be", {EM_AARCH64, 64, 1}},
    {"alpha", {ALPHA, 64, 0}},
    {"arm", {EM_ARM, 32, 0}},
    {"armeb", {EM_ARM, 32, 1}},
    {"avr", {EM_AVR, 32, 0}},
    {"cris", {EM_CRIS, 32, 0}},
    {"hexagon", {HEXAGON, 32, 0}},
    {"hppa", {EM_PARISC, 32, 1}},
    {"i386", {EM_386, 32, 0}},
    {"loongarch64", {LOONGARCH, 64, 0}},
    {"m68k", {EM_68K, 32, 1}},
    {"microblaze", {EM_MICROBLAZE, 32, 1}},
    {"microblazeel", {EM_MICROBLAZE, 32, 0}},
    {"mips", {EM_MIPS, 32, 1}},
    {"mips64", {EM_MIPS, 64, 1}},
    {"mips64el", {EM_MIPS, 64, 0}},
    {"mipsel", {EM_MIPS, 32, 0}},
    {"mipsn32", {EM_MIPS, 32, 1}},
    {"mipsn32el", {EM_MIPS, 32, 0}},
    {"nios2", {EM_ALTERA_NIOS2, 32, 0}},
    {"or1k", {EM_OPENRISC, 32, 1}},
    {"ppc", {EM_PPC, 32, 1}},
    {"ppc64", {EM_PPC64, 64, 1}},
    {"ppc64le", {EM_PPC64, 64, 0}},
    {"riscv32", {EM_RISCV, 32, 0}},
    {"riscv64", {EM_RISCV, 64, 0}},
    {"rx", {EM_RX, 32, 0}},
    {"s390x", {EM_S390, 64, 1}},
    {"sh4", {EM_SH, 32, 0}},
    {"sh4eb", {EM_SH, 32, 1}},
    {"sparc", {EM_SPARC, 32, 1}},
    {"sparc32plus", {EM_SPARC32PLUS, 32, 1}},
    {"sparc64", {EM_SPARCV9, 64, 1}},
    {"tricore", {EM_TRICORE, 32, 0}},
    {"x86_64", {EM_X86_64, 64, 0}},
    {"xtensa", {EM_XTENSA, 32, 0}},
    {"xtensaeb", {EM_XTENSA, 32, 1}},
};

uint8_t gt_etrace_longest_insn(uint32_t machine)
{
    switch (machine) {
    case EM_AARCH64:
    case EM_ARM:
    case EM_RISCV:
    case ALPHA:
    case LOONGARCH:
    case EM_MICROBLAZE:
    case EM_OPENRISC:
    case EM_PARISC:
    case EM_SPARC:
    case EM_SPARC32PLUS:
    case EM_SPARCV9:
        return 4;
    default:
        return 0;
    }
}

bool gt_etrace_arch_of(const char *target, struct gt_etrace_arch *out)
{
    out->host = (struct gt_etrace_arch_side){HOST_MACHINE, 8 * sizeof(void *),
                                             __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, target) == 0) {
            out->guest = targets[i].side;
            return true;
        }
    return false;
}
