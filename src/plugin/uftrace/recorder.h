/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the uftrace recorder share. */
#ifndef GT_PLUGIN_UFTRACE_RECORDER_H
#define GT_PLUGIN_UFTRACE_RECORDER_H

#include "base/stream/stream.h"
#include "base/worker.h"
#include "format/uftrace/dir.h"
#include "guest/arch/arch.h"
#include "guest/arch/syscalls.h"
#include "plugin/common/modules.h"
#include "plugin/common/pages.h"
#include "plugin/uftrace/options.h"
#include "plugin/uftrace/vcpu.h"
#include "qemu/host.h"

#include <pthread.h>

/* Among the processes of a recording: one that forks, and its children. */
struct gt_shared {
    uint64_t records, lost, counters[GT_COUNTERS]; /* of processes that have ended */
    bool told;                                     /* a fault: told once */
    bool first_ended;                              /* the process that all others come from */
};

struct gt_recorder {
    /* read by the hot path */
    struct gt_vcpu *vcpus; /* max_vcpus, and one that all further ones share: not recorded */
    unsigned max_vcpus;
    void *score; /* cells; NULL: the host has none */
    uint32_t max_depth;
    bool host_clock;
    bool user;
    bool cells_stay;      /* no vCPU can come any more that makes the others' cells move */
    uint64_t host_offset; /* added to the host's clock */
    uint64_t *now;        /* of live_clock.c; NULL: nobody asks */
    bool sparse;          /* no cells, and only blocks that need a look have callbacks */
    uint64_t insns;       /* with `sparse`: retired before the current block, by the only thread */

    struct gt_host_info host;
    const struct gt_arch *arch;
    const struct gt_syscalls *syscalls; /* user mode; NULL: unknown target */

    /* arguments */
    const char *output;
    const char *code_map; /* NULL: none */
    int clock;
    uint64_t depth;
    int tasks;
    uint64_t max_tasks;
    bool tail_calls, privilege_levels, summary;
    bool discontinuities; /* the host tells of exceptions; off: as if it could not */

    struct gt_tracker tracker;
    struct gt_modules modules;
    struct gt_streams *streams;
    struct gt_worker *worker;
    struct gt_uftrace_dir dir;
    char sid[GT_UFTRACE_SID_LEN + 1];

    pthread_mutex_t lock;  /* of the members below, and of modules */
    struct gt_pages pages; /* of struct gt_page */
    GHashTable *memory;    /* of memory.c, by page of the host's memory */
    unsigned n_vcpus;      /* 1 + highest index seen */
    uint32_t pid;
    uint32_t n_tasks, n_coroutines;
    uint64_t calls, matched, counters[GT_COUNTERS]; /* of threads that have ended */
    uint64_t last_time;
    int exit_status;
    bool has_exit_status, no_worker, modules_failed, named, started, finished;
    uint32_t forked_from;            /* the parent, in a forked child; 0: none */
    struct gt_streams_stats written; /* at the end */
    struct gt_shared *shared;
    unsigned tasks_refused; /* not recorded, for want of memory, a thread or room */
    char *cmdline, *exename;
    char first_name[16]; /* the process's name as it began: QEMU's own */
};

extern struct gt_recorder gt_rec;

static inline struct gt_vcpu *gt_vcpu_at(unsigned index)
{
    return &gt_rec.vcpus[index < gt_rec.max_vcpus ? index : gt_rec.max_vcpus];
}

/* It has begun, and the recording has not ended. */
static inline bool gt_vcpu_is_recorded(const struct gt_vcpu *v)
{
    return v->begun && !__atomic_load_n(&gt_rec.finished, __ATOMIC_RELAXED);
}

#endif
