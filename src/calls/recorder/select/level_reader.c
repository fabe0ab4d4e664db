/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which privilege level code has, read at its translation: see level_reader.h. */
#include "calls/recorder/select/level_reader.h"
#include "calls/recorder/recorder.h"

int gt_select_levels_init(struct gt_recorder *r, struct gt_error *err)
{
    if (!gt_host_can(GT_HOST_REGISTERS) || !gt_host_can(GT_HOST_CONDITIONAL))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument trace-privilege-level=on: this QEMU does not let plugins "
                            "read registers; QEMU 9.0 and later do");
    r->levels.privilege = gt_arch_privilege_by_arch(r->guest.arch->name);
    if (!r->levels.privilege)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument trace-privilege-level=on: not for guests of target %s yet",
                            r->host.target);
    return 0;
}

/* Reported once: all code then counts as of the first level. */
static void report_unreadable(struct gt_recorder *r, const char *name)
{
    if (!__atomic_exchange_n(&r->levels.reported, true, __ATOMIC_RELAXED) &&
        r->options.privilege_levels)
        gt_host_message("trace-privilege-level=on: register %s cannot be read: privilege levels "
                        "are not distinguished",
                        name);
}

/* Reads the calling vCPU's level. False: a register cannot be read. With r->lock. */
static bool read_level(struct gt_recorder *r, unsigned *level)
{
    uint64_t values[GT_PRIVILEGE_REGISTERS] = {0};
    struct gt_select_level_reader *l = &r->levels;
    for (size_t i = 0; i < GT_PRIVILEGE_REGISTERS && l->privilege->registers[i].name; i++) {
        const struct gt_arch_privilege_register *want = &l->privilege->registers[i];
        if (want->may_lack && !gt_host_register_exists(&l->registers[i], want->name)) {
            values[i] = want->if_lacks;
        } else if (!gt_host_register_read(&l->registers[i], want->name, &values[i])) {
            report_unreadable(r, want->name);
            return false;
        }
    }
    *level = l->privilege->level(values);
    return true;
}

unsigned gt_select_level_translated(struct gt_recorder *r)
{
    unsigned level = 0;
    read_level(r, &level);
    return level;
}

bool gt_select_level_read(struct gt_recorder *r, unsigned *level)
{
    if (!gt_host_can(GT_HOST_REGISTERS))
        return false;
    if (!r->levels.privilege)
        r->levels.privilege = gt_arch_privilege_by_arch(r->guest.arch->name);
    return r->levels.privilege && read_level(r, level);
}

bool gt_select_level_is_user(struct gt_recorder *r)
{
    unsigned level;
    return gt_select_level_read(r, &level) && r->levels.privilege->rank[level] == 0;
}
