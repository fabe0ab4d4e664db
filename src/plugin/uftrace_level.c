/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for each privilege level of each vCPU (trace-privilege-level=on).
 *
 * QEMU translates a block for one privilege level, that of the vCPU which is about to run it; so
 * the level is read at translation, and is part of what a block is. Each level has a function of
 * its own that all its code belongs to: the first block after a change of level is a landing,
 * whatever made the change. There the vCPU goes on with that level's call stack and mark: each
 * level's calls are followed as if the others did not exist.
 *
 * No landing is plain here: an interrupt just after a call must not pass for the call's arrival. So
 * every landing goes through gt_track_slow.
 *
 * Task ids: 10 for each vCPU, (vCPU + 1) * 10 + level.
 */
#include "guest/privilege.h"
#include "plugin/uftrace.h"

#include <stdio.h>
#include <string.h>

enum { IDS_EACH = 10 };
_Static_assert((int)GT_PRIVILEGE_LEVELS <= (int)IDS_EACH, "an id for each level");

struct gt_levels {
    unsigned current;
    struct {
        struct gt_stack *stack; /* NULL: not entered yet, or refused */
        uint64_t mark;          /* while another level runs */
        bool refused;           /* there was no memory for it: not recorded */
    } level[GT_PRIVILEGE_LEVELS];
};

static const struct gt_privilege *privilege;
static struct gt_func funcs[GT_PRIVILEGE_LEVELS];

int gt_levels_init(struct gt_error *err)
{
    if (!gt_host_can(GT_HOST_REGISTERS) || !gt_host_can(GT_HOST_CONDITIONAL))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument trace-privilege-level=on: this QEMU does not let plugins "
                            "read registers; QEMU 9.0 and later do");
    privilege = gt_privilege_by_arch(gt_rec.arch->name);
    if (!privilege)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument trace-privilege-level=on: not for guests of target %s yet",
                            gt_rec.host.target);
    for (size_t i = 0; i < GT_PRIVILEGE_LEVELS; i++)
        funcs[i] = (struct gt_func){.hi = UINT64_MAX, .flags = GT_FUNC_ANON};
    return 0;
}

/* The level that the block being translated is for. False: a register, *name, cannot be read. */
static bool read_level(unsigned *level, const char **name)
{
    static int handles[GT_PRIVILEGE_REGISTERS];
    static bool found[GT_PRIVILEGE_REGISTERS];
    uint64_t values[GT_PRIVILEGE_REGISTERS] = {0};
    for (size_t i = 0; i < GT_PRIVILEGE_REGISTERS && privilege->registers[i]; i++) {
        const char *const names[] = {privilege->registers[i], NULL};
        if (!found[i])
            handles[i] = gt_register_find(names);
        found[i] = true;
        *name = names[0];
        if (!gt_register_read(handles[i], &values[i]))
            return false;
    }
    *level = privilege->level(values);
    return true;
}

/* Told once: all code then counts as of the lowest level. */
static void tell_unreadable(const char *name)
{
    static bool told;
    if (!told)
        gt_host_message("trace-privilege-level=on: register %s cannot be read: levels are not told "
                        "apart",
                        name);
    told = true;
}

struct gt_func *gt_level_func(void)
{
    const char *name = "";
    unsigned level = 0;
    if (!read_level(&level, &name))
        tell_unreadable(name);
    return &funcs[level];
}

bool gt_level_is_user(void)
{
    const char *name;
    unsigned level;
    if (!gt_host_can(GT_HOST_REGISTERS))
        return false;
    if (!privilege)
        privilege = gt_privilege_by_arch(gt_rec.arch->name);
    return privilege && read_level(&level, &name) && level == privilege->user;
}

static unsigned level_of(const struct gt_func *fn)
{
    return (unsigned)(fn - funcs);
}

static uint32_t task_of(const struct gt_vcpu *v, unsigned level)
{
    return (uint32_t)(v - gt_rec.vcpus + 1) * IDS_EACH + level;
}

static void put_name(struct gt_vcpu *v, unsigned level, uint64_t time)
{
    char name[32];
    snprintf(name, sizeof name, "cpu%u %s", (unsigned)(v - gt_rec.vcpus), privilege->names[level]);
    gt_output_name(v, name, time);
}

void gt_levels_begin(struct gt_vcpu *v, const struct gt_func *fn)
{
    if (!v->levels)
        v->levels = g_new(struct gt_levels, 1);
    *v->levels = (struct gt_levels){.current = level_of(fn)};
    v->tid = task_of(v, v->levels->current);
    v->thread.attention |= GT_ATTENTION_OWNER;
}

void gt_levels_begun(struct gt_vcpu *v, uint64_t time)
{
    v->levels->level[v->levels->current].stack = v->thread.stack;
    put_name(v, v->levels->current, time);
}

bool gt_level_land(struct gt_vcpu *v, const struct gt_func *fn, uint64_t *mark, uint64_t time)
{
    struct gt_levels *l = v->levels;
    unsigned to = level_of(fn);
    if (to == l->current)
        return !l->level[to].refused;
    l->level[l->current].mark = *mark;
    l->current = to;
    if (l->level[to].refused)
        return false;
    bool is_new = !l->level[to].stack;
    v->tid = task_of(v, to);
    if (!gt_track_level(&v->thread, &l->level[to].stack, time)) {
        l->level[to].refused = true;
        return false;
    }
    if (is_new)
        put_name(v, to, time);
    *mark = l->level[to].mark ? l->level[to].mark | GT_MARK_RESUME : 0;
    return true;
}

void gt_levels_end(struct gt_vcpu *v, uint64_t time)
{
    for (size_t i = 0; i < GT_PRIVILEGE_LEVELS; i++) {
        struct gt_stack *s = v->levels->level[i].stack;
        if (s && s != v->thread.stack)
            gt_track_level_end(&v->thread, s, time);
        v->levels->level[i].stack = NULL;
    }
}
