/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the threads of a Linux guest, in machines whose code map says where the kernel keeps
 * them. Without such a map all functions do nothing.
 */
#ifndef GT_CALLS_RECORDER_RUN_LINUX_H
#define GT_CALLS_RECORDER_RUN_LINUX_H

#include "base/error.h"
#include "calls/recorder/translate/code.h"
#include "qemu/support/arena.h"
#include "recording/code_map/code_map.h"

#include <glib.h>
#include <pthread.h>

struct gt_uftrace_recorder;
struct gt_vcpu;

/* A thread of the guest. */
struct gt_linux_task {
    char comm[16]; /* its name; ends with a NUL */
    uint32_t pid;  /* of the thread */
    uint32_t tgid; /* of its process */
};

struct gt_linux {
    const struct gt_code_linux *layout; /* of tasks in the kernel, at load; NULL: no names */
    struct gt_register first, second;   /* a function's arguments */
    pthread_mutex_t lock;               /* of the members below */
    GPtrArray *all;                     /* the tasks that contexts had, in order */
    GHashTable *known;                  /* the same, by content */
    struct gt_arena arena;              /* their memory */
    uint64_t unlisted;                  /* tasks that had no room in `all` */
};

/* At load, after the code map was read. */
void gt_linux_init(struct gt_uftrace_recorder *r);

/* The instruction loads the stack pointer: adds a callback where the kernel switches threads. With
 * the lock. */
void gt_linux_watch(struct gt_uftrace_recorder *r, const struct gt_decoded *insn);

/* A function begins with the instruction: adds a callback where the kernel names a thread. With the
 * lock. */
void gt_linux_watch_entry(struct gt_uftrace_recorder *r, const struct gt_decoded *first);

/* The vCPU's thread is on a stack that may be another one: names it after a thread switch. */
void gt_linux_transferred(struct gt_vcpu *v, uint64_t time);

/* Writes the threads that were seen to GT_GUEST_TASKS_FILE, if there are any. On the worker. Errors
 * of gt_file_replace_text. */
int gt_linux_write(struct gt_uftrace_recorder *r, struct gt_error *err);

/* Prints how many threads that file lacks, if any. */
void gt_linux_report(const struct gt_uftrace_recorder *r);

#endif
