/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of architectures. */
#include "guest/arch/arch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void found_by_name_and_elf(void **state)
{
    (void)state;
    assert_ptr_equal(gt_arch_by_target("aarch64"), &gt_arch_aarch64);
    assert_ptr_equal(gt_arch_by_target("riscv64"), &gt_arch_riscv64);
    assert_null(gt_arch_by_target("aarch64_be"));
    assert_null(gt_arch_by_target(""));
    assert_ptr_equal(gt_arch_by_elf(183, 64), &gt_arch_aarch64);
    assert_ptr_equal(gt_arch_by_elf(243, 64), &gt_arch_riscv64);
    assert_null(gt_arch_by_elf(183, 32));
    assert_null(gt_arch_by_elf(0, 64));
    for (size_t i = 0; gt_arch_at(i); i++) {
        const struct gt_arch *arch = gt_arch_at(i);

        assert_non_null(arch->name);
        assert_non_null(arch->qemu_names[0]);
        assert_non_null(arch->sp_register);
        assert_non_null(arch->fp_registers[0]);
        assert_true(arch->insn_min >= 1 && arch->insn_min <= arch->insn_max);
        assert_true(arch->vector_align > 0 && arch->vector_align <= arch->vector_align_high);
        assert_true(arch->bits == 32 || arch->bits == 64);
        assert_ptr_equal(gt_arch_by_target(arch->qemu_names[0]), arch);
    }
    assert_string_equal(gt_arch_insn_kind_name(GT_INSN_VECTOR_WRITE), "vector write");
    assert_string_equal(gt_arch_insn_kind_name(GT_INSN_VECTOR_WRITE + 1), "unknown");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_name_and_elf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
