/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fork snapshots: the frames of programs at their newest system calls. Such a call may create a
 * process, which begins with a copy of these frames, perhaps after the caller has left them.
 */
#include "track/guests.h"
#include "track/machine.h"
#include "track/stack.h"

#include <stdlib.h>
#include <string.h>

/* The frames at the newest system call that returns to `pc`; found by a hash of `pc` and `sp`, in
 * one of GT_TRACK_FORK_SNAPSHOTS entries. */
struct gt_track_fork_snapshot {
    uint64_t pc;   /* where the call returns to; 0: free */
    uint64_t sp;   /* the program's stack pointer; 0: not known */
    uint64_t vm;   /* of the stack */
    uint64_t when; /* n_fork_snapshots when it was taken */
    uint32_t n;
    uint32_t home; /* in a copy of the table: the entry's index */
    bool cut;      /* of the stack */
    struct gt_track_frame frames[64];
};

enum { SNAPSHOTS = 1024 };

static bool is_of(const struct gt_track_fork_snapshot *snapshot, uint64_t pc, uint64_t sp,
                  uint64_t vm)
{
    return snapshot->pc == pc && snapshot->sp == sp && snapshot->vm == vm;
}

/* Returns the entry of that address and stack pointer, or one to use for it: a free one or the
 * oldest. NULL: no memory. With the lock. */
static struct gt_track_fork_snapshot *snapshot_at(struct gt_track *k, uint64_t pc, uint64_t sp,
                                                  uint64_t vm)
{
    if (!k->fork_snapshots)
        k->fork_snapshots = calloc(SNAPSHOTS, sizeof *k->fork_snapshots);
    if (!k->fork_snapshots)
        return NULL;
    uint64_t home = (pc ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15) >> 54;
    struct gt_track_fork_snapshot *oldest = &k->fork_snapshots[home];
    for (unsigned i = 0; i < GT_TRACK_FORK_SNAPSHOTS; i++) {
        struct gt_track_fork_snapshot *snapshot = &k->fork_snapshots[(home + i) % SNAPSHOTS];
        if (is_of(snapshot, pc, sp, vm) || snapshot->pc == 0)
            return snapshot;
        if (snapshot->when < oldest->when)
            oldest = snapshot;
    }
    return oldest;
}

_Static_assert(SNAPSHOTS == 1u << 10, "snapshot_at takes the hash's top 10 bits");

/* The newest snapshot of the address, with any stack pointer: a new thread has another one. NULL:
 * not found. With the lock. */
static const struct gt_track_fork_snapshot *last_snapshot_at(const struct gt_track *k, uint64_t pc,
                                                             uint64_t vm)
{
    const struct gt_track_fork_snapshot *last = NULL;
    for (unsigned i = 0; k->fork_snapshots && i < SNAPSHOTS; i++)
        if (k->fork_snapshots[i].pc == pc && k->fork_snapshots[i].vm == vm &&
            (!last || k->fork_snapshots[i].when > last->when))
            last = &k->fork_snapshots[i];
    return last;
}

/* That of the call which made the thread; else, if all calls were seen, of the newest call there.
 * NULL: not found. With the lock. */
static const struct gt_track_fork_snapshot *snapshot_of(const struct gt_track_thread *t,
                                                        uint64_t pc)
{
    struct gt_track *k = t->tracker;
    uint64_t vm = gt_track_guest_vm(t);
    const struct gt_track_fork_snapshot *found = snapshot_at(k, pc, t->returned_sp, vm);
    bool exact = found && is_of(found, pc, t->returned_sp, vm);
    if (k->unfollowed)
        return exact && t->returned_sp ? found : NULL;
    return exact ? found : last_snapshot_at(k, pc, vm);
}

void gt_track_fork_snapshots_forget(struct gt_track *k)
{
    free(k->fork_snapshots);
    k->fork_snapshots = NULL;
}

/* A copy ends with an entry that is free; each other one has its place in the table in `home`. */
bool gt_track_fork_snapshots_copy(const struct gt_track *k, struct gt_track_fork_snapshot **out,
                                  size_t *bytes)
{
    const struct gt_track_fork_snapshot *all = k->fork_snapshots;
    size_t n = 0;
    for (unsigned i = 0; i < SNAPSHOTS && all; i++)
        n += all[i].pc != 0;
    *out = n ? calloc(n + 1, sizeof **out) : NULL;
    struct gt_track_fork_snapshot *to = *out;
    for (unsigned i = 0; i < SNAPSHOTS && to; i++)
        if (all[i].pc) {
            *to = all[i];
            to++->home = i;
        }
    *bytes += n * sizeof **out;
    return *out || n == 0;
}

void gt_track_fork_snapshots_restore(struct gt_track *k, const struct gt_track_fork_snapshot *copy)
{
    gt_track_fork_snapshots_forget(k);
    if (copy)
        k->fork_snapshots = calloc(SNAPSHOTS, sizeof *k->fork_snapshots);
    for (; copy && copy->pc && k->fork_snapshots; copy++)
        k->fork_snapshots[copy->home] = *copy;
}

void gt_track_fork_snapshot_note(struct gt_track_thread *t, uint64_t last_exit)
{
    const struct gt_stack *s = t->stack;
    enum {
        MOST = sizeof((struct gt_track_fork_snapshot *)0)->frames / sizeof(struct gt_track_frame)
    };
    if (!(last_exit & GT_LAST_EXIT_CODE) ||
        gt_track_last_exit_code(last_exit)->exit != GT_EXIT_SYSCALL || s->n_handlers ||
        gt_stack_depth(s) > MOST)
        return;
    uint64_t pc = gt_code_end(gt_track_last_exit_code(last_exit));
    pthread_mutex_lock(&t->tracker->lock);
    struct gt_track_fork_snapshot *snapshot = snapshot_at(t->tracker, pc, t->calling_sp, s->vm);
    if (snapshot) {
        snapshot->pc = pc;
        snapshot->sp = t->calling_sp;
        snapshot->vm = s->vm;
        snapshot->when = ++t->tracker->n_fork_snapshots;
        snapshot->n = gt_stack_depth(s);
        snapshot->cut = s->cut;
        memcpy(snapshot->frames, s->base + 1, snapshot->n * sizeof snapshot->frames[0]);
    }
    pthread_mutex_unlock(&t->tracker->lock);
}

bool gt_track_fork_snapshot_take(struct gt_track_thread *t, uint64_t pc, uint64_t time)
{
    struct gt_track_fork_snapshot snapshot = {.n = 0};
    pthread_mutex_lock(&t->tracker->lock);
    const struct gt_track_fork_snapshot *found = snapshot_of(t, pc);
    if (found)
        snapshot = *found;
    pthread_mutex_unlock(&t->tracker->lock);
    const uint64_t calls = t->calls, unrecorded = t->unrecorded;
    for (uint32_t i = 0; i < snapshot.n; i++)
        gt_stack_push(t, snapshot.frames[i], time);
    __atomic_fetch_add(&t->tracker->again, t->calls - calls - (t->unrecorded - unrecorded),
                       __ATOMIC_RELAXED);
    t->calls = calls;
    t->unrecorded = unrecorded;
    t->stack->cut |= snapshot.n > 0 && snapshot.cut;
    t->counters[GT_COUNT_BEGUN] += snapshot.n > 0;
    return snapshot.n > 0;
}
