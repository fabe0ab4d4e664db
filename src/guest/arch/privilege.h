/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privilege levels: which registers tell the one that a vCPU runs at, and what it is called. Levels
 * are numbers from 0; a level without a name does not exist.
 *
 * aarch64: bits 1:0 are the exception level, bits 3:2 the world (enum gt_privilege_world). Only EL3
 * changes the world of the levels below it, and is itself in none.
 */
#ifndef GT_GUEST_ARCH_PRIVILEGE_H
#define GT_GUEST_ARCH_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

enum { GT_PRIVILEGE_LEVELS = 11, GT_PRIVILEGE_REGISTERS = 4 };

enum gt_privilege_world {
    GT_WORLD_NONSECURE,
    GT_WORLD_SECURE,
    GT_WORLD_REALM,
    GT_WORLDS,
};

struct gt_privilege_register {
    const char *name; /* QEMU's; NULL: no more */
    bool may_lack;    /* CPUs without it are as those where it has this value: */
    uint64_t if_lacks;
};

struct gt_privilege {
    const char *arch; /* struct gt_arch's name */
    struct gt_privilege_register registers[GT_PRIVILEGE_REGISTERS];
    const char *names[GT_PRIVILEGE_LEVELS]; /* NULL: there is no such level */
    uint8_t rank[GT_PRIVILEGE_LEVELS]; /* only an exception leads to a higher one; 0: programs */
    unsigned (*level)(const uint64_t *registers); /* below GT_PRIVILEGE_LEVELS, has a name */
    /* What says in which world the levels below the highest run; NULL: there are none. */
    const char *world_register;
    enum gt_privilege_world (*world)(uint64_t value);
};

/* By struct gt_arch's name; NULL where the levels of that architecture are not known. */
const struct gt_privilege *gt_privilege_by_arch(const char *arch);

/* The level, but in the world. With a gt_privilege that has worlds. */
unsigned gt_privilege_in_world(unsigned level, enum gt_privilege_world world);

#endif
