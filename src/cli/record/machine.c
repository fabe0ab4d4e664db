/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of machines: see machine.h. */
#include "cli/record/machine.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

#define LE ELFDATA2LSB
#define BE ELFDATA2MSB

#define TRIPLES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct gt_record_guest_target machines[] = {
    {EM_X86_64, 64, LE, "x86_64", TRIPLES("x86_64-linux-gnu")},
    {EM_AARCH64, 64, LE, "aarch64", TRIPLES("aarch64-linux-gnu")},
    {EM_RISCV, 64, LE, "riscv64", TRIPLES("riscv64-linux-gnu")},
    {EM_386, 32, LE, "i386", TRIPLES("i686-linux-gnu", "i386-linux-gnu")},
    {EM_ARM, 32, LE, "arm", TRIPLES("arm-linux-gnueabihf", "arm-linux-gnueabi")},
    {EM_RISCV, 32, LE, "riscv32", TRIPLES("riscv32-linux-gnu")},
    {EM_AARCH64, 64, BE, "aarch64_be", TRIPLES("aarch64_be-linux-gnu")},
    {EM_ARM, 32, BE, "armeb", TRIPLES("armeb-linux-gnueabihf")},
    {EM_PPC64, 64, LE, "ppc64le", TRIPLES("powerpc64le-linux-gnu")},
    {EM_PPC64, 64, BE, "ppc64", TRIPLES("powerpc64-linux-gnu")},
    {EM_PPC, 32, BE, "ppc", TRIPLES("powerpc-linux-gnu")},
    {EM_S390, 64, BE, "s390x", TRIPLES("s390x-linux-gnu")},
    {EM_MIPS, 64, LE, "mips64el", TRIPLES("mips64el-linux-gnuabi64")},
    {EM_MIPS, 64, BE, "mips64", TRIPLES("mips64-linux-gnuabi64")},
    {EM_MIPS, 32, LE, "mipsel", TRIPLES("mipsel-linux-gnu")},
    {EM_MIPS, 32, BE, "mips", TRIPLES("mips-linux-gnu")},
    {EM_LOONGARCH, 64, LE, "loongarch64", TRIPLES("loongarch64-linux-gnu")},
    {EM_SPARCV9, 64, BE, "sparc64", TRIPLES("sparc64-linux-gnu")},
    {EM_SPARC32PLUS, 32, BE, "sparc32plus", TRIPLES("sparc64-linux-gnu")},
    {EM_SPARC, 32, BE, "sparc", TRIPLES("sparc-linux-gnu")},
    {EM_ALPHA, 64, LE, "alpha", TRIPLES("alpha-linux-gnu")},
    {EM_PARISC, 32, BE, "hppa", TRIPLES("hppa-linux-gnu")},
    {EM_68K, 32, BE, "m68k", TRIPLES("m68k-linux-gnu")},
    {EM_SH, 32, LE, "sh4", TRIPLES("sh4-linux-gnu")},
    {EM_SH, 32, BE, "sh4eb", TRIPLES("sh4eb-linux-gnu")},
    {EM_MICROBLAZE, 32, BE, "microblaze", TRIPLES("microblaze-linux-gnu")},
    {EM_MICROBLAZE, 32, LE, "microblazeel", TRIPLES("microblazeel-linux-gnu")},
    {EM_OPENRISC, 32, BE, "or1k", TRIPLES("or1k-linux-gnu")},
    {EM_XTENSA, 32, LE, "xtensa", TRIPLES("xtensa-linux-gnu")},
    {EM_XTENSA, 32, BE, "xtensaeb", TRIPLES("xtensaeb-linux-gnu")},
};

const struct gt_record_guest_target *gt_record_guest_target_find(uint16_t e_machine, unsigned bits,
                                                                 uint8_t data)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        const struct gt_record_guest_target *m = &machines[i];
        if (m->e_machine == e_machine && m->bits == bits && m->data == data)
            return m;
    }
    return NULL;
}

bool gt_record_guest_target_is_name(const char *name)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (strcmp(machines[i].target, name) == 0)
            return true;
    return false;
}
