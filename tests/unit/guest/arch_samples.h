/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions of fixed or two lengths, encoded by hand, with what they should give: for the tests
 * of the architectures whose length is in the instruction's low bits.
 */
#ifndef GT_TESTS_ARCH_SAMPLES_H
#define GT_TESTS_ARCH_SAMPLES_H

#include "guest/arch/arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct sample {
    uint32_t word;
    uint8_t kind;
    int64_t offset; /* target minus pc, where the kind has one */
};

static const uint64_t sample_pc = 0xffffffc008001000;

static inline bool has_target(unsigned kind)
{
    return kind == GT_INSN_CALL || kind == GT_INSN_JUMP || kind == GT_INSN_BRANCH;
}

/* A copy of exactly `size` bytes on the heap, so that valgrind and sanitizers see a read beyond. */
static inline void classify_exact(const struct gt_arch *arch, uint32_t word, size_t size,
                                  struct gt_arch_insn *out)
{
    const uint8_t word_bytes[4] = {word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff, word >> 24};
    uint8_t *bytes = malloc(size ? size : 1);

    assert_non_null(bytes);
    memcpy(bytes, word_bytes, size);
    memset(out, 0xff, sizeof *out);
    arch->classify(size ? bytes : bytes + 1, size, sample_pc, out);
    free(bytes);
}

static inline void check_samples(const struct gt_arch *arch, const struct sample *s, size_t count)
{
    for (size_t i = 0; i < count; i++, s++) {
        bool compressed = arch->insn_min == 2 && (s->word & 3) != 3;
        size_t size = compressed ? 2 : 4;
        uint64_t target = has_target(s->kind) ? sample_pc + (uint64_t)s->offset : 0;
        bool call = s->kind == GT_INSN_CALL || s->kind == GT_INSN_CALL_INDIRECT;
        uint8_t bytes[4] = {s->word & 0xff, s->word >> 8 & 0xff, s->word >> 16 & 0xff,
                            s->word >> 24};
        struct gt_arch_insn out;

        classify_exact(arch, s->word, size, &out);
        if (out.kind != s->kind || out.target != target || out.conditional)
            fail_msg("%s %08x: expected %s %llx, got %s %llx", arch->name, s->word,
                     gt_arch_insn_kind_name(s->kind), (unsigned long long)target,
                     gt_arch_insn_kind_name(out.kind), (unsigned long long)out.target);
        if (call)
            assert_true(arch->may_follow_call(bytes + size, size));
        else if (size == 4 && arch->insn_min == 4)
            assert_false(arch->may_follow_call(bytes + size, size));
        for (size_t cut = 0; cut < size; cut++) {
            classify_exact(arch, s->word, cut, &out);
            assert_int_equal(out.kind, GT_INSN_OTHER);
            assert_int_equal(out.target, 0);
        }
    }
}

#endif
