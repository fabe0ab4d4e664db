/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The execlog recorder: one value, `struct gt_exlog`, of which each module holds its own part. (The
 * plugin's prefix is gt_exlog_; the log's binary form, in format/, has gt_execlog_.)
 *
 *   execlog.c      arguments, installation, events
 *   recorder.c     the value begins and ends
 *   code.c         translation: blocks are instrumented
 *   block_cache.h  descriptions of blocks: which instructions are logged, which check registers
 *   where.h        addresses in the code: ranges, functions, start= and stop=
 *   exec.h         executed instructions, their memory accesses: the hot path
 *   regs.h         registers that are watched
 *   vcpu.h         vCPUs
 *   finish.h       lines that are handed over early, fork, execve, the end
 *   sink.h         where lines go:
 *   text.c         as text
 *   binary.c       in the binary form
 *   last.h         the last ones only, on their way to another sink
 *
 * A line is one execution of an instruction that is logged. What never changes of it, its block
 * has; when the instruction runs only its number is noted. Lines are delivered to a sink later,
 * many at once: where memory is accessed or another block begins. The newest line of a vCPU is
 * complete when its next one begins.
 *
 * Every function takes the recorder as its first argument, or a vCPU that points to it. Only what
 * QEMU calls without our pointer (callbacks of translated code, fork handlers) fetches the loaded
 * plugin's recorder from gt_exlog_loaded(). A second recorder in one process works like the first,
 * except that no callback of translated code reaches it.
 *
 * Locks, in the order in which they are taken: gate.lock, lock, the sinks' locks.
 */
#ifndef GT_EXECLOG_PLUGIN_RECORDER_H
#define GT_EXECLOG_PLUGIN_RECORDER_H

#include "base/sink/sink.h"
#include "execlog/plugin/block_cache.h"
#include "execlog/plugin/last.h"
#include "execlog/plugin/regs.h"
#include "execlog/plugin/sink.h"
#include "execlog/plugin/vcpu.h"
#include "execlog/plugin/where.h"
#include "guest/arch/arch.h"
#include "qemu/host.h"
#include "qemu/support/gate.h"

#include <pthread.h>

enum { GT_EXLOG_BUFFER = 256 << 10 /* bytes that the text sink hands over at once */ };

struct gt_exlog {
    /* what callbacks read of each block, close together; all but scoreboard_moves and gate is
     * constant from installation on */
    struct gt_exlog_vcpu *vcpus; /* GT_EXLOG_MAX_VCPUS; pages are allocated when touched */
    bool scoreboard_moves; /* vCPUs may come for which the scoreboard has to be moved; atomic */
    bool many;             /* a machine of several vCPUs */
    bool selective;        /* not all lines are delivered: every=, start=, stop= */
    bool physical;         /* a machine: accesses have physical addresses and a region */
    bool repeats; /* a vCPU's complete last line comes again, and no line is an empty one, as
                   * QEMU's own plugin had it before 11.1 */
    bool values;  /* the host reports values of accesses, and the sink wants them */
    const struct gt_exlog_sink *sink;
    struct gt_gate gate;

    /* constant from installation on */
    struct gt_host_info host;
    const struct gt_arch *insns;        /* the guest's; NULL: unknown */
    struct gt_packet_sink *packet_sink; /* NULL: QEMU's plugin log */
    bool live;                          /* the packet sink is a socket: somebody may be reading */
    void *scoreboard;                   /* of one uint64_t; NULL: the host has none */
    const struct gt_arch_syscalls *syscalls; /* user mode; NULL: a machine, or an unknown target */
    uint64_t every;                          /* each N-th line is delivered; 0 or 1: all */
    struct gt_exlog_last last;
    struct gt_execlog_writer *writer; /* the binary sink's; NULL: text */

    bool stores; /* translated code stores into the scoreboard; atomic */
    bool off;    /* no line is delivered until start=; atomic */

    pthread_mutex_t lock; /* protects the following members */
    struct gt_exlog_filter filter;
    struct gt_exlog_where where;
    struct gt_exlog_registers registers;
    struct gt_exlog_block_cache cache;
    bool unwatched;     /* accesses of some instructions are left out, which was said */
    unsigned n_vcpus;   /* 1 + highest index seen; atomic */
    uint64_t cut_lines; /* lines that were too long; atomic */
};

/* Prepares an empty recorder for the host. Its filters and sinks are the caller's to set
 * afterwards. GT_E_NOMEM. */
int gt_exlog_init(struct gt_exlog *e, const struct gt_host_info *host, struct gt_error *err);
/* Frees what the recorder holds, and the packet sink; gt_exlog_on_exit has returned, and no thread
 * is in the recorder. */
void gt_exlog_fini(struct gt_exlog *e);

/* The recorder of the loaded plugin, for those callbacks that get no pointer to it. */
extern struct gt_exlog gt_exlog_of_plugin;
static inline struct gt_exlog *gt_exlog_loaded(void)
{
    return &gt_exlog_of_plugin;
}

/* A callback begins with the vCPU. False: it must leave everything as it is, as the recording has
 * ended. */
static inline bool gt_exlog_enter(struct gt_exlog *e, struct gt_exlog_vcpu *v)
{
    return gt_gate_enter(&e->gate, &v->busy);
}

/* The callback has ended. */
static inline void gt_exlog_leave(struct gt_exlog_vcpu *v)
{
    gt_gate_leave(&v->busy);
}

/* What callbacks of all vCPUs note. */
static inline struct gt_gate_words gt_exlog_words(struct gt_exlog *e)
{
    return (struct gt_gate_words){.first = &e->vcpus->busy,
                                  .stride = sizeof *e->vcpus,
                                  .n = __atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE)};
}

/* Lets no callback use any vCPU until gt_gate_open. False: the recording has ended. */
static inline bool gt_exlog_hold(struct gt_exlog *e)
{
    const struct gt_gate_words words = gt_exlog_words(e);
    return gt_gate_hold(&e->gate, &words);
}

#endif
