/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privilege levels: which registers tell the one that a vCPU runs at, and what it is called. Levels
 * are numbers from 0; a level without a name does not exist.
 */
#ifndef GT_GUEST_PRIVILEGE_H
#define GT_GUEST_PRIVILEGE_H

#include <stdint.h>

enum { GT_PRIVILEGE_LEVELS = 5, GT_PRIVILEGE_REGISTERS = 3 };

struct gt_privilege {
    const char *arch;                              /* struct gt_arch's name */
    const char *registers[GT_PRIVILEGE_REGISTERS]; /* QEMU's names, the rest NULL */
    const char *names[GT_PRIVILEGE_LEVELS];        /* NULL: there is no such level */
    unsigned user;                                 /* the level of user programs */
    unsigned (*level)(const uint64_t *registers);  /* below GT_PRIVILEGE_LEVELS, has a name */
};

/* By struct gt_arch's name; NULL where the levels of that architecture are not known. */
const struct gt_privilege *gt_privilege_by_arch(const char *arch);

#endif
