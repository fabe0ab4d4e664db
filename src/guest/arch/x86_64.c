/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64: 64-bit mode, and the 32-bit and 16-bit code that such a machine runs too. */
#include "guest/arch/x86.h"

static void classify(const uint8_t *bytes, size_t size, uint64_t pc, struct gt_arch_insn *out)
{
    gt_arch_x86_classify(bytes, size, pc, true, out);
}

static void sp_step(const uint8_t *bytes, size_t size, struct gt_arch_sp_step *out)
{
    gt_arch_x86_sp_step(bytes, size, 8, out);
}

const struct gt_arch gt_arch_x86_64 = {
    .name = "x86_64",
    .qemu_names = (const char *const[]){"x86_64", NULL},
    .e_machine = 62, /* EM_X86_64 */
    .bits = 64,
    .insn_min = 1,
    .insn_max = GT_X86_INSN_MAX,
    .signal_pc = 176,
    .signal_sp = 168,
    .sp_register = "rsp",
    .fp_registers = (const char *const[]){"rbp", NULL},
    .classify = classify,
    .may_follow_call = gt_arch_x86_may_follow_call,
    .stack_use = gt_arch_x86_stack_use,
    .sp_copies = GT_X86_SP_COPIES,
    .sp_step = sp_step,
    .jumps_by_link = gt_arch_x86_jumps_by_link,
    .is_plain_access = gt_arch_x86_is_plain_access,
    .pushes = gt_arch_x86_pushes,
    .return_word = gt_arch_x86_return_word,
    .trap_size = gt_arch_x86_trap_size,
    .vector_align = 1,
    .vector_align_high = 8,
    .vector_lowest = 0x100000,
    .smi_entry = 0x8000,
    .returned_sp = "rsp",
    .pops_sp = gt_arch_x86_pops_sp,
    .first_argument = "rdi",
    .second_argument = "rsi",
};
