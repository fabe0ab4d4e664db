/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of filters that are in use: the one that decides now, and former ones that a task still has,
 * as it has not called anything since they were replaced. The control socket's thread alone
 * replaces and frees them. Memory is bounded by the number of tasks.
 *
 * Who holds a set counts as a user. To take the present one without a lock: count, and look whether
 * it still is the present one; if not, it was perhaps freed, which is why the memory of the count
 * is never given back.
 */
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filters.h"
#include "qemu/support/code_modules.h"

static struct gt_select_filter_current *hold(struct gt_select_filter_current *const *from)
{
    for (;;) {
        struct gt_select_filter_current *c = __atomic_load_n(from, __ATOMIC_SEQ_CST);
        if (!c)
            return NULL;
        __atomic_fetch_add(&c->users, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(from, __ATOMIC_SEQ_CST) == c)
            return c;
        gt_select_filters_release(c);
    }
}

struct gt_select_filter_current *gt_select_filters_take(struct gt_select_filters *f)
{
    return hold(&f->current);
}

struct gt_select_filter_current *gt_select_filters_take_watching(struct gt_select_filters *f)
{
    return hold(f->watching ? &f->watching : &f->current);
}

void gt_select_filters_release(struct gt_select_filter_current *c)
{
    if (c)
        __atomic_fetch_sub(&c->users, 1, __ATOMIC_SEQ_CST);
}

/* One that is free, or a new one. */
static struct gt_select_filter_current *find_room(struct gt_select_filters *f)
{
    struct gt_select_filter_current *c = f->all;
    while (c && c->id)
        c = c->next;
    if (c)
        return c;
    c = g_new0(struct gt_select_filter_current, 1);
    c->next = f->all;
    f->all = c;
    return c;
}

struct gt_select_filter_current *
gt_select_filters_new(struct gt_recorder *r, struct gt_filter_set *set, struct gt_error *err)
{
    struct gt_select_filters *f = &r->filters;
    struct gt_filter_live *live = gt_filter_live_new(set);
    if (!live) {
        gt_error_set(err, GT_E_NOMEM, "out of memory");
        return NULL;
    }
    pthread_mutex_lock(&f->lock);
    uint64_t number = GT_FILTER_NUMBERS + f->made;
    struct gt_select_filter_current *c = find_room(f);
    c->id = ++f->made;
    c->set = set;
    c->live = live;
    c->uses = gt_filter_set_uses(set);
    c->quiet = !gt_filter_set_acts_while_off(set);
    c->number = number <= UINT8_MAX ? (uint8_t)number : 0;
    if (r->options.control && !r->guest.user) /* what a later set may use: known from now on */
        c->uses |= GT_FILTER_NEEDS_LEVEL | GT_FILTER_NEEDS_KERNEL;
    pthread_mutex_unlock(&f->lock);
    return c;
}

static void free_set(struct gt_select_filter_current *c)
{
    gt_filter_set_free(c->set);
    gt_filter_live_free(c->live);
    c->set = NULL;
    c->live = NULL;
    c->id = 0;
}

void gt_select_filters_use(struct gt_select_filters *f, struct gt_select_filter_current *next)
{
    pthread_mutex_lock(&f->lock);
    __atomic_store_n(&f->current, next, __ATOMIC_SEQ_CST);
    for (struct gt_select_filter_current *c = f->all; c; c = c->next)
        if (c->id && c != next && !__atomic_load_n(&c->users, __ATOMIC_SEQ_CST))
            free_set(c);
    pthread_mutex_unlock(&f->lock);
}

bool gt_select_filters_has(const struct gt_select_filters *f, uint64_t id)
{
    const struct gt_select_filter_current *c = f->all;
    while (c && c->id != id)
        c = c->next;
    return c;
}

/* As linux.c reads them. */
int gt_select_filters_check_names(const struct gt_recorder *r, const struct gt_filter_set *set,
                                  struct gt_error *err)
{
    const struct gt_support_code_modules *code = r->code.modules.code;
    if (!code || gt_support_code_modules_linux(code)->current == GT_CODE_NO_LINUX ||
        !gt_filter_set_names_tasks(set) ||
        (gt_host_can(GT_HOST_REGISTERS) && gt_host_can(GT_HOST_MEMORY)))
        return 0;
    return gt_error_set(
        err, GT_E_UNSUPPORTED,
        "a filter is about the name of a task, and this QEMU does not let plugins "
        "read names of a Linux guest's tasks; use QEMU 10.0 or later, or a task's number");
}
