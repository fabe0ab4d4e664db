/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of instructions by hand: bytes as the processor manuals give them, and what they must be.
 *
 * Each runs from a heap copy of its exact size, so that the address sanitizer sees a read beyond
 * it.
 */
#ifndef TESTS_UNIT_ARCH_X86_FORMS_H
#define TESTS_UNIT_ARCH_X86_FORMS_H

#include "guest/arch/arch.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PC UINT64_C(0x7f0000401000)

struct form {
    const char *bytes; /* hexadecimal, separated as one likes */
    enum gt_arch_insn_kind kind;
    uint64_t target;
};

static size_t from_hex(const char *hex, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;

    for (; *hex; hex++) {
        const char *d = strchr(digits, *hex);

        if (!d)
            continue;
        if (n % 2 == 0)
            out[n / 2] = 0;
        out[n / 2] = (uint8_t)(out[n / 2] << 4 | (d - digits));
        n++;
    }
    assert_int_equal(n % 2, 0);
    return n / 2;
}

static struct gt_arch_insn classify(const struct gt_arch *arch, const uint8_t *bytes, size_t size,
                                    uint64_t pc)
{
    uint8_t *copy = malloc(size);
    struct gt_arch_insn insn;

    assert_non_null(copy);
    memset(&insn, 0xa5, sizeof insn);
    memcpy(copy, bytes, size);
    arch->classify(copy, size, pc, &insn);
    free(copy);
    return insn;
}

/* Whatever a cut instruction is taken for, nothing behind the cut is looked at. */
static void check_cuts(const struct gt_arch *arch, const uint8_t *bytes, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        struct gt_arch_insn insn = classify(arch, bytes, n, 0);

        assert_true(insn.kind <= GT_INSN_VECTOR_WRITE);
    }
}

static void check_form(const struct gt_arch *arch, const struct form *f, uint64_t pc)
{
    uint8_t bytes[32];
    size_t size = from_hex(f->bytes, bytes);
    struct gt_arch_insn insn = classify(arch, bytes, size, pc);

    if (insn.kind != f->kind || insn.target != f->target)
        fail_msg("%s: %s at %#" PRIx64 ": %s to %#" PRIx64 ", expected %s to %#" PRIx64, arch->name,
                 f->bytes, pc, gt_arch_insn_kind_name(insn.kind), insn.target,
                 gt_arch_insn_kind_name(f->kind), f->target);
    assert_false(insn.conditional);
    check_cuts(arch, bytes, size);
}

#define CHECK(arch, pc, table)                                                                     \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < sizeof(table) / sizeof(table)[0]; i_++)                           \
            check_form(arch, &(table)[i_], pc);                                                    \
    } while (0)

#endif
