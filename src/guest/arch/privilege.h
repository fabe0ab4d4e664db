/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privilege levels: the registers that show a vCPU's level, and the names of levels. Levels are
 * numbers from 0; a level without a name does not exist.
 *
 * aarch64: bits 1:0 are the exception level, bits 3:2 the world (enum gt_arch_privilege_world).
 * Only EL3 changes the world of the levels below it; EL3 itself belongs to no world.
 */
#ifndef GT_GUEST_ARCH_PRIVILEGE_H
#define GT_GUEST_ARCH_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

enum { GT_PRIVILEGE_LEVELS = 11, GT_PRIVILEGE_REGISTERS = 4 };

enum gt_arch_privilege_world {
    GT_WORLD_NONSECURE,
    GT_WORLD_SECURE,
    GT_WORLD_REALM,
    GT_WORLDS,
};

struct gt_arch_privilege_register {
    const char *name; /* QEMU's name; NULL ends the list */
    bool may_lack;    /* some CPUs lack it; they count as having the value if_lacks */
    uint64_t if_lacks;
};

struct gt_arch_privilege {
    const char *arch; /* name of struct gt_arch */
    struct gt_arch_privilege_register registers[GT_PRIVILEGE_REGISTERS];
    const char *names[GT_PRIVILEGE_LEVELS]; /* NULL: the level does not exist */
    uint8_t rank[GT_PRIVILEGE_LEVELS]; /* only an exception leads to a higher rank; 0: programs */
    unsigned (*level)(const uint64_t *registers); /* returns a level that has a name */
    /* The register that selects the world of the levels below the highest; NULL: the architecture
     * has no worlds. */
    const char *world_register;
    enum gt_arch_privilege_world (*world)(uint64_t value);
};

/* Finds the levels by the name of struct gt_arch; NULL: unknown. */
const struct gt_arch_privilege *gt_arch_privilege_by_arch(const char *arch);

/* Returns the level's number in that world. Only for a gt_arch_privilege with worlds. */
unsigned gt_arch_privilege_in_world(unsigned level, enum gt_arch_privilege_world world);

#endif
