/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which privilege level code has. Levels are numbers of guest/arch/privilege.h. QEMU translates a
 * block for one level, that of the vCPU which is about to run it.
 */
#ifndef GT_CALLS_RECORDER_SELECT_LEVEL_READER_H
#define GT_CALLS_RECORDER_SELECT_LEVEL_READER_H

#include "base/error.h"
#include "base/stream/stream.h"
#include "guest/arch/privilege.h"
#include "qemu/host.h"

struct gt_recorder;

/* How levels are read. */
struct gt_select_level_reader {
    const struct gt_arch_privilege *privilege; /* NULL: not known yet, or not at all */
    struct gt_host_register registers[GT_PRIVILEGE_REGISTERS];
    struct gt_host_register world;
    bool reported; /* a register cannot be read: reported once */
};

/* At load. GT_E_UNSUPPORTED: the host cannot read registers, or the guest's levels are not known.
 */
int gt_select_levels_init(struct gt_recorder *r, struct gt_error *err);

/* Reads the calling vCPU's level, if the host can. With the lock. */
bool gt_select_level_read(struct gt_recorder *r, unsigned *level);

/* True where the block that is being translated is a user program's; false where that is not known.
 * With the lock. */
bool gt_select_level_is_user(struct gt_recorder *r);

/* The level of the block that is being translated. With the lock. */
unsigned gt_select_level_translated(struct gt_recorder *r);

#endif
