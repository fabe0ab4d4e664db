/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uftrace recorder as one value. Every function of the plugin takes the recorder as its first
 * argument, or a vCPU or translation that has a pointer to it; only callbacks to which the
 * host passes no pointer of ours fetch it (installed.h). A process may have several; one is
 * installed.
 *
 * Members are grouped by subject; each module declares its own group in its header. Who may access
 * a group is stated there or here: "at load" means that it is set in gt_recorder_init and only read
 * later, "with the lock" means r->lock. Everything lives as long as the process.
 *
 * Locks are taken in this order: r->gate.lock, r->snapshots.turn, r->dormant.lock, r->lock,
 * r->tracker.lock, r->filters.lock, then the locks of the worker and of the streams,
 * r->snapshots.lock. r->guest_tasks.lock is taken alone.
 */
#ifndef GT_CALLS_RECORDER_RECORDER_H
#define GT_CALLS_RECORDER_RECORDER_H

#include "calls/recorder/options.h"
#include "calls/recorder/output/guest_tasks.h"
#include "calls/recorder/output/handlers.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/output/open_calls.h"
#include "calls/recorder/output/parts.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/plan.h"
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/guests.h"
#include "calls/recorder/run/linux.h"
#include "calls/recorder/run/process.h"
#include "calls/recorder/run/reset.h"
#include "calls/recorder/run/system.h"
#include "calls/recorder/run/system_calls.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/run/vectors.h"
#include "calls/recorder/run/vmstate.h"
#include "calls/recorder/select/dormant.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/level.h"
#include "calls/recorder/select/marks.h"
#include "calls/recorder/translate/code.h"
#include "calls/recorder/translate/memory.h"
#include "calls/recorder/translate/push.h"
#include "calls/recorder/translate/straight.h"
#include "calls/recorder/values/arguments.h"
#include "calls/recorder/vcpu.h"
#include "guest/arch/arch.h"
#include "qemu/support/gate.h"
#include "qemu/support/messages.h"
#include "qemu/support/modules.h"
#include "qemu/support/pages.h"

struct gt_support_control;

/* What callbacks from translated code read each time: one cache line. Set at load, unless noted. */
struct gt_recorder_hot {
    struct gt_vcpu *vcpu; /* max_vcpus of them, and one shared by all others: not recorded */
    unsigned max_vcpus;
    uint32_t max_depth; /* calls at this depth and deeper are not recorded */
    void *scoreboard; /* of struct gt_recorder_score; NULL: none. May become NULL as vCPUs start */
    struct gt_recorder_live_clock live; /* the newest time, for other processes */
    uint64_t host_offset;               /* added to the host's clock; with the lock */
    uint64_t insns;  /* with `sparse`: retired before the current block, by all vCPUs */
    bool host_clock; /* times are the host's; with the lock */
    bool sparse;     /* no scoreboard, and only blocks that need callbacks have them */
} __attribute__((aligned(64)));

/* Facts about the guest, at load. */
struct gt_recorder_guest {
    bool user; /* a process, not a machine */
    const struct gt_arch *arch;
    const struct gt_arch_syscalls *syscalls; /* user mode; NULL: not known for the target */
};

/* What translation has learned about the guest's code. With the lock. */
struct gt_recorder_known_code {
    struct gt_support_modules modules; /* which function an address belongs to */
    struct gt_support_pages pages;     /* struct gt_run_page, by guest address */
    struct gt_run_block_cache cache;
    struct gt_translate_memory memory; /* machines */
    struct gt_translate_pushes pushes; /* machines */
    struct gt_translate_straight straight;
    struct gt_translate_decoder decoder;
};

/* Calls of tasks that have ended, under filters: recorded; too deep for that; recorded without the
 * arguments that they had: no room. Atomic. */
struct gt_recorder_selected {
    uint64_t recorded, beyond, valueless;
};

/* Counts for the end of the recording. */
struct gt_recorder_totals {
    uint32_t tasks;      /* begun so far; on the worker */
    uint32_t coroutines; /* numbers given to tasks that are not threads of the host; atomic */
    unsigned refused;    /* tasks not recorded: out of memory, threads or room; atomic */
    uint64_t calls, matched, unrecorded,
        counters[GT_COUNTERS]; /* of vCPUs that have ended; with the lock */
    struct gt_recorder_selected selected;
    struct gt_streams_stats written; /* at the end */
};

struct gt_recorder {
    struct gt_recorder_hot hot;
    struct gt_gate gate;      /* callbacks of vCPUs: it ends with the recording */
    struct gt_host_info host; /* at load */
    struct gt_recorder_guest guest;
    struct gt_recorder_options options;
    struct gt_select_filters filters;
    struct gt_recorder_argument_reading arguments;
    struct gt_select_marks marks;
    struct gt_select_dormant dormant;
    struct gt_host_events events;    /* at load: the events that the host reports */
    struct gt_recorder_plan plan[2]; /* at load: without a scoreboard, and with one */

    struct gt_track tracker;           /* has a lock of its own */
    struct gt_track_program_view view; /* at load: programs */
    pthread_mutex_t lock;
    struct gt_recorder_known_code code;
    struct gt_vcpus vcpus;
    struct gt_recorder_totals totals;
    struct gt_run_process process;
    struct gt_run_system_calls calls;
    struct gt_recorder_output output;
    struct gt_support_control *control; /* control.h; NULL: no socket. Set at load and at the end */
    struct gt_recorder_snapshots snapshots;
    struct gt_support_messages messages;
    struct gt_recorder_ended_parts parts;
    struct gt_recorder_handlers handlers;
    struct gt_recorder_open_calls open_calls;
    struct gt_recorder_guest_tasks guest_tasks; /* machines */

    /* machines */
    struct gt_run_system system;
    struct gt_run_vectors vectors;
    struct gt_run_resets resets;
    struct gt_run_guests guests;
    struct gt_run_vmstates vmstates;
    struct gt_run_linux os;
    struct gt_select_level_reader levels;
};

/* True where switches of contexts are recorded. No file ends with an open sched-out: the tracker
 * resumes each stack before it ends. */
static inline bool gt_recorder_tells_switches(const struct gt_recorder *r)
{
    return !r->guest.user && r->options.tasks == GT_TASKS_STACK;
}

/* True where it is recorded on which vCPU a task runs. */
static inline bool gt_recorder_tells_vcpus(const struct gt_recorder *r)
{
    return gt_recorder_tells_switches(r) && r->host.max_vcpus > 1;
}

/* True where all call stacks that a vCPU runs are one task. */
static inline bool gt_recorder_has_vcpu_tasks(const struct gt_recorder *r)
{
    return !r->guest.user && r->options.tasks == GT_TASKS_CPU && !r->options.privilege_levels;
}

/* Which callbacks and sinks record. With the lock, or at load: the host may have no scoreboard
 * after all. */
static inline const struct gt_recorder_plan *gt_recorder_plan(const struct gt_recorder *r)
{
    return &r->plan[r->hot.scoreboard != NULL];
}

/* The vCPU of the index. All beyond the limit share one, which is not recorded. */
static inline struct gt_vcpu *gt_vcpu_at(struct gt_recorder *r, unsigned index)
{
    return &r->hot.vcpu[index < r->hot.max_vcpus ? index : r->hot.max_vcpus];
}

/* The vCPU's index. */
static inline unsigned gt_vcpu_index(const struct gt_vcpu *v)
{
    return (unsigned)(v - v->rec->hot.vcpu);
}

/* A callback of the vCPU begins, on its thread. NULL: it does nothing, as the recording has ended.
 * Else gt_vcpu_leave ends it. */
static inline struct gt_vcpu *gt_vcpu_enter(struct gt_recorder *r, unsigned index)
{
    struct gt_vcpu *v = gt_vcpu_at(r, index);
    return gt_gate_enter(&r->gate, &v->thread.busy) ? v : NULL;
}

static inline void gt_vcpu_leave(struct gt_vcpu *v)
{
    gt_gate_leave(&v->thread.busy);
}

/* The same of a vCPU that has begun; NULL: it has not. */
static inline struct gt_vcpu *gt_vcpu_enter_begun(struct gt_recorder *r, unsigned index)
{
    struct gt_vcpu *v = gt_vcpu_enter(r, index);
    if (!v || v->begun)
        return v;
    gt_vcpu_leave(v);
    return NULL;
}

#endif
