/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The etrace recorder: one value, `struct gt_etrace`, of which each module holds its own part:
 *
 *   etrace.c       arguments, installation, events
 *   recorder.c     the value begins and ends; QEMU's targets
 *   code.c         translation: blocks are described and instrumented
 *   block_cache.h  descriptions of blocks; flags=coverage: the numbers that code adds to
 *   exec.h         executed blocks: the hot path
 *   mem.h          memory accesses, devices, interrupts
 *   text.h         notes: disassembly, registers
 *   maps.h         notes: the files that a user-mode guest has mapped
 *   count.h        flags=coverage: the counters' values, as events
 *   early_exit.h   flags=coverage: blocks that end early, accesses that are not reported
 *   vcpu.h         vCPUs
 *   buffer.h       host threads' buffers of packets
 *   packets.h      packets in a buffer
 *   exec_queue.h   executed blocks before they become packets
 *   tail.h         what buffers hold, for a file's provisional tail
 *   finish.h       buffers that are handed over early, fork, the end
 *   control.h      commands from outside
 *
 * Packets of one host thread are in one order: all go through the thread's buffer. Where one thread
 * runs several vCPUs, the EXEC packet of one ends when another one runs. Where only EXEC is wanted,
 * an executed block is only appended to its thread's queue: many become entries at a time, and
 * before any other packet. MEM packets that follow each other are put without the buffer's lock.
 *
 * Every function takes the recorder as its first argument, or a buffer that points to it. Only what
 * QEMU calls without our pointer (callbacks of translated code, fork handlers) fetches the loaded
 * plugin's recorder from gt_etrace_loaded(). A second recorder in one process works like the first,
 * except that no callback of translated code reaches it.
 *
 * Locks, in the order in which they are taken: gate.lock, count.lock, lock, a buffer's lock, the
 * packet sink's locks.
 */
#ifndef GT_ETRACE_PLUGIN_RECORDER_H
#define GT_ETRACE_PLUGIN_RECORDER_H

#include "base/clock.h"
#include "base/sink/sink.h"
#include "etrace/format/etrace.h"
#include "etrace/plugin/block_cache.h"
#include "etrace/plugin/control.h"
#include "etrace/plugin/count.h"
#include "etrace/plugin/early_exit.h"
#include "etrace/plugin/maps.h"
#include "etrace/plugin/mem.h"
#include "etrace/plugin/tail.h"
#include "etrace/plugin/vcpu.h"
#include "guest/arch/arch.h"
#include "qemu/host.h"
#include "qemu/support/gate.h"

#include <glib.h>
#include <pthread.h>

enum gt_etrace_flag {
    GT_ETRACE_F_EXEC = 1 << 0,
    GT_ETRACE_F_DISAS = 1 << 1,
    GT_ETRACE_F_MEM = 1 << 2,
    GT_ETRACE_F_CPU = 1 << 3,
    GT_ETRACE_F_GPIO = 1 << 4,
    GT_ETRACE_F_COVERAGE = 1 << 5,
};

enum {
    GT_ETRACE_BUFFER = 64 << 10, /* bytes of a buffer of the packet sink */
};

struct gt_etrace_buffer;

struct gt_etrace {
    struct gt_etrace_vcpu *vcpus; /* GT_ETRACE_MAX_VCPUS; pages are allocated when touched */
    struct gt_gate gate;          /* callbacks of vCPUs: it ends with the recording */

    /* constant from installation on */
    unsigned bits; /* of the guest's addresses */
    unsigned flags;
    bool host_clock;
    bool live;   /* the sink is a socket: somebody may read while the guest runs */
    bool values; /* the host reports the values of memory accesses */
    struct gt_host_info host;
    struct gt_etrace_arch arch;
    const struct gt_arch *insns; /* the guest's; NULL: unknown */
    struct gt_packet_sink *sink;
    const struct gt_arch_syscalls *syscalls; /* user mode; NULL: a machine, or an unknown target */

    struct gt_etrace_mem_kinds mem_kinds; /* atomic */
    struct gt_etrace_unreported unreported;

    pthread_mutex_t lock; /* protects the members up to `count` */
    struct gt_etrace_block_cache cache;
    struct gt_etrace_counters counters;
    struct gt_etrace_maps maps;
    GHashTable *devices; /* physical address -> value seen there last */
    struct gt_etrace_buffer *buffers;
    unsigned n_vcpus; /* 1 + highest index seen; atomic */
    unsigned n_units; /* units given to vCPUs; user mode: one a thread */

    struct gt_etrace_count count; /* has a lock of its own */
    struct gt_etrace_control control;
    struct gt_etrace_tail tail; /* the packet sink's thread's alone */
    unsigned streams;           /* readers, or files, that were begun; atomic */
    bool finished;              /* nothing is recorded any more; atomic */

    pthread_key_t own_buffer;  /* struct gt_etrace_buffer of the thread; NULL: none yet */
    pthread_key_t began_there; /* index of the vCPU that began last on the thread */
};

/* Prepares an empty recorder for the host. Its flags, clock and sink are the caller's to set
 * afterwards. GT_E_UNSUPPORTED: the target is unknown; GT_E_NOMEM. */
int gt_etrace_init(struct gt_etrace *e, const struct gt_host_info *host, struct gt_error *err);
/* Frees what the recorder holds, and the sink; gt_etrace_on_exit has returned, and no thread is in
 * the recorder. */
void gt_etrace_fini(struct gt_etrace *e);

/* The recorder of the loaded plugin, for those callbacks that get no pointer to it. */
extern struct gt_etrace gt_etrace_of_plugin;
static inline struct gt_etrace *gt_etrace_loaded(void)
{
    return &gt_etrace_of_plugin;
}

static inline bool gt_etrace_is_finished(const struct gt_etrace *e)
{
    return __atomic_load_n(&e->finished, __ATOMIC_ACQUIRE);
}

/* A callback of the vCPU begins, on its thread. NULL: it does nothing, as the recording has ended
 * or there are too many. Else gt_etrace_leave ends it. */
static inline __attribute__((always_inline)) struct gt_etrace_vcpu *
gt_etrace_enter(struct gt_etrace *e, unsigned vcpu)
{
    if (__builtin_expect(vcpu >= GT_ETRACE_MAX_VCPUS, 0))
        return NULL;
    struct gt_etrace_vcpu *v = &e->vcpus[vcpu];
    return gt_gate_enter(&e->gate, &v->busy) ? v : NULL;
}

static inline void gt_etrace_leave(struct gt_etrace_vcpu *v)
{
    gt_gate_leave(&v->busy);
}

/* Executed blocks are queued. */
static inline bool gt_etrace_has_queue(const struct gt_etrace *e)
{
    const unsigned others =
        GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO | GT_ETRACE_F_CPU | GT_ETRACE_F_DISAS;
    return e->flags & GT_ETRACE_F_EXEC && !(e->flags & others) && !e->host_clock;
}

static inline unsigned gt_etrace_vcpu_index(const struct gt_etrace *e,
                                            const struct gt_etrace_vcpu *v)
{
    return (unsigned)(v - e->vcpus);
}

/* The time of instruction `i` of the vCPU's current block: clock=insn: instructions; clock=host:
 * monotonic nanoseconds. */
static inline uint64_t gt_etrace_time_at(const struct gt_etrace *e, const struct gt_etrace_vcpu *v,
                                         size_t i)
{
    if (e->host_clock)
        return gt_base_clock_monotonic();
    return v->block ? v->time - v->block->insns + i : v->time;
}

/* What QEMU's target names mean in a stream: ELF machine, address bits, byte order. */

/* The guest by its target, and this host. False: the target is unknown. */
bool gt_etrace_arch_of(const char *target, struct gt_etrace_arch *out);
/* Bytes of an ELF machine's longest instructions, where most are as long; 0: the sizes vary. */
uint8_t gt_etrace_longest_insn(uint32_t machine);

#endif
