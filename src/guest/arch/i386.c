/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i386: 32-bit and 16-bit code. */
#include "guest/arch/x86.h"

static void classify(const uint8_t *bytes, size_t size, uint64_t pc, struct gt_arch_insn *out)
{
    gt_arch_x86_classify(bytes, size, pc, false, out);
}

static void sp_step(const uint8_t *bytes, size_t size, struct gt_arch_sp_step *out)
{
    gt_arch_x86_sp_step(bytes, size, 4, out);
}

const struct gt_arch gt_arch_i386 = {
    .name = "i386",
    .qemu_names = (const char *const[]){"i386", NULL},
    .e_machine = 3, /* EM_386 */
    .bits = 32,
    .insn_min = 1,
    .insn_max = GT_X86_INSN_MAX,
    .signal_pc = 220,
    .signal_sp = 192,
    .sp_register = "esp",
    .fp_registers = (const char *const[]){"ebp", NULL},
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
    .vector_align_high = 1,
    .vector_lowest = 0x100000,
    .smi_entry = 0x8000,
    .returned_sp = "esp",
    .pops_sp = gt_arch_x86_pops_sp,
    .first_argument = "eax",
    .second_argument = "edx",
};
