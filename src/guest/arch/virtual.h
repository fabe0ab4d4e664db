/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a hypervisor enters its guests: a row for each architecture.
 *
 * aarch64: an exception return from EL2 with HCR_EL2.VM set. riscv64: sret with hstatus.SPV. x86:
 * the instruction vmrun, after which the hypervisor continues.
 */
#ifndef GT_GUEST_ARCH_VIRTUAL_H
#define GT_GUEST_ARCH_VIRTUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_VIRTUAL_REGISTERS = 5 };

/* Where an exception return leads to. */
enum gt_arch_virtual_target {
    GT_VIRTUAL_SAME = 0, /* no guest is entered or left, as far as is known */
    GT_VIRTUAL_HOST,     /* out of the hypervisor to a lower level that is not a guest's */
    GT_VIRTUAL_GUEST,
};

/* A vCPU of a guest. Equal numbers are the same one; 0: the registers do not say which. */
struct gt_arch_virtual_id {
    uint64_t vm, vcpu;
};

struct gt_arch_virtual {
    const char *arch; /* name of struct gt_arch */
    /* QEMU's names; NULL ends the list. Of x86: the one that says which guest is entered. */
    const char *registers[GT_VIRTUAL_REGISTERS];
    uint64_t first_bit; /* of the first register: where it is clear, no guest is entered */
    /* By the registers' values, just before the exception return. NULL: none enters a guest. */
    enum gt_arch_virtual_target (*target)(const uint64_t *values, struct gt_arch_virtual_id *id);
    /* True where the instruction enters a guest, after which the next instruction is executed.
     * NULL: none does. */
    bool (*runs)(const uint8_t *bytes, size_t size);
    /* True where the instruction writes a register that a hypervisor sets before it enters a guest,
     * and kernels do not set otherwise. NULL: unknown. */
    bool (*prepares)(const uint8_t *bytes, size_t size);
};

/* Finds the row by the name of struct gt_arch; NULL: unknown. */
const struct gt_arch_virtual *gt_arch_virtual_by_arch(const char *arch);

#endif
