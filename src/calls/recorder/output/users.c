/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a recording: see users.h. */
#include "calls/recorder/output/users.h"

#include "base/file.h"
#include "calls/recorder/recorder.h"
#include "recording/texts/dir_lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_ANCESTORS = 64,
    MOST_WAIT = 1000, /* ms */
};

static int *lock_of(struct gt_recorder *r)
{
    return gt_recorder_packed_is_on(&r->output.packed) ? &r->output.packed.work.lock
                                                       : &r->output.lock;
}

/* ---- start --------------------------------------------------------------------------------- */

/* 0: not known. */
static unsigned parent_of(unsigned pid)
{
    struct gt_file_process_stat stat;
    return gt_file_process_stat(pid, &stat) ? stat.parent : 0;
}

bool gt_recorder_users_go_on(const char *dir)
{
    char ring[4200];
    unsigned pid = (unsigned)getpid();
    for (int i = 0; i < MOST_ANCESTORS && pid > 1; i++, pid = parent_of(pid)) {
        snprintf(ring, sizeof ring, "%s/.guesttrace-%u.ring", dir, pid);
        if (access(ring, F_OK) == 0)
            return true;
    }
    return false;
}

void gt_recorder_users_keep(const struct gt_recorder *r, int *lock)
{
    if (*lock <= 0 || !gt_thread_worker_private_files(r->output.worker) ||
        dup3(*lock, 0, O_CLOEXEC) != 0)
        return;
    close(*lock);
    *lock = 0;
}

int gt_recorder_users_begin(struct gt_recorder *r, bool goes_on, struct gt_error *err)
{
    const char *dir = r->output.dir.path;
    int *lock = lock_of(r);
    int status = goes_on ? gt_recording_dir_lock_share(dir, lock, err)
                         : gt_recording_dir_lock_make(dir, dir, lock, err);
    gt_recorder_users_keep(r, lock);
    return status == GT_E_BUSY ? status : 0; /* else it is recorded without */
}

/* ---- forks --------------------------------------------------------------------------------- */

void gt_recorder_users_before_fork(struct gt_recorder *r, struct gt_vcpu *v)
{
    if (!v)
        return;
    v->in_fork = true;
    __atomic_store_n(&r->output.shared->forked, true, __ATOMIC_RELAXED);
    __atomic_fetch_add(&r->output.shared->starting, 1, __ATOMIC_ACQ_REL);
}

void gt_recorder_users_after_fork(struct gt_vcpu *v, int64_t result)
{
    if (v->in_fork && result < 0 && result > -4096)
        __atomic_fetch_sub(&v->rec->output.shared->starting, 1, __ATOMIC_ACQ_REL);
    v->in_fork = false;
}

void gt_recorder_users_fork_child(struct gt_recorder *r)
{
    if (gt_thread_worker_private_files(r->output.worker))
        *lock_of(r) = -1;
}

/* Where that fails the parent may come to be the last. */
static void enter_child(void *arg)
{
    struct gt_recorder *r = arg;
    int *lock = lock_of(r);
    if (gt_recording_dir_lock_share(r->output.dir.path, lock, NULL) == 0)
        gt_recorder_users_keep(r, lock);
}

void gt_recorder_users_forked(struct gt_vcpu *v)
{
    struct gt_recorder *r = v->rec;
    if (!v->in_fork)
        return;
    v->in_fork = false;
    gt_thread_worker_call(r->output.worker, enter_child, r);
    __atomic_fetch_sub(&r->output.shared->starting, 1, __ATOMIC_ACQ_REL);
}

/* ---- end ----------------------------------------------------------------------------------- */

static bool any_starting(const struct gt_recorder *r)
{
    return __atomic_load_n(&r->output.shared->starting, __ATOMIC_ACQUIRE) != 0;
}

/* A child that has just been forked runs only code of QEMU's before it has the lock; meanwhile
 * no other process may find the recording without users. One that was killed then never has it. */
static void await_children(const struct gt_recorder *r)
{
    for (int ms = 0; ms < MOST_WAIT && any_starting(r); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

bool gt_recorder_users_is_last(struct gt_recorder *r)
{
    await_children(r);
    return gt_recording_dir_lock_is_last(r->output.dir.path, *lock_of(r)) && !any_starting(r);
}

void gt_recorder_users_end(struct gt_recorder *r)
{
    int *lock = lock_of(r);
    if (!gt_recorder_packed_is_on(&r->output.packed) && gt_recorder_users_is_last(r))
        gt_recording_dir_lock_remove(r->output.dir.path);
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
}
