/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The etrace recorder, shared among its files:
 *   etrace.c       arguments, installation, events
 *   target.c       what a stream says of guest and host
 *   code.c         translation: blocks are kept and instrumented
 *   block_cache.c  the blocks that are kept
 *   maps.c         notes of the files that a user-mode guest has mapped
 *   exec.c         blocks that run: the hot path
 *   mem.c          memory accesses, devices, interrupts
 *   text.c         notes: disassembly, registers
 *   counters.c     flags=coverage: the counters
 *   count.c        and what they count, as events
 *   early_exit.c   of these, blocks that an access to a device leaves
 *   control.c      commands from outside
 *   exec_queue.c   blocks that ran, before they are put
 *   packets.c      packets into buffers, buffers to the outlet
 *   buffer.c       threads and their buffers
 *   tail.c         what is not handed over yet
 *   finish.c       buffers handed over early, and the end
 *
 * Packets of one host thread are in one order: they go through a lane, which holds the buffer that
 * they are put in. Where one thread runs several vCPUs, the execution entries of one are ended when
 * another one goes on. Where only EXEC is wanted, a block that runs is but listed in its lane: many
 * are put at a time, and before anything else is. MEM packets that follow each other are put into
 * the buffer's room without the lane's lock.
 */
#ifndef GT_PLUGIN_ETRACE_ETRACE_H
#define GT_PLUGIN_ETRACE_ETRACE_H

#include "base/clock.h"
#include "base/sink/sink.h"
#include "format/etrace/etrace.h"
#include "guest/arch/syscalls.h"
#include "plugin/common/pages.h"
#include "qemu/host.h"

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

enum gt_etrace_clock { GT_ETRACE_CLOCK_AUTO, GT_ETRACE_CLOCK_INSN, GT_ETRACE_CLOCK_HOST };

enum {
    GT_ETRACE_MAX_VCPUS = 65536, /* a unit's number has 16 bits */
    GT_ETRACE_BUFFER = 64 << 10, /* bytes */
    GT_ETRACE_CHAINS = 32,       /* of a page's blocks */
};

/* A block of guest code; kept until all translated code is thrown away, or to the end. Small: each
 * takes the place of something else in the caches. */
struct gt_etrace_block {
    uint64_t start, end;
    struct gt_etrace_block *next; /* others of its chain */
    struct gt_etrace_rare *rare;  /* NULL: nothing */
    uint32_t counter;             /* with GT_ETRACE_F_COVERAGE: its number, from 1 on; 0: none */
    uint16_t insns;
    uint8_t insn_size; /* of each instruction, bytes; 0: they differ */
    uint8_t sizes[];   /* if they do: of each one */
};

/* What few blocks have, with GT_ETRACE_F_COVERAGE. */
struct gt_etrace_rare {
    struct gt_etrace_block *alike; /* others that start and end here; from the first one on */
    struct gt_etrace_alone *alone; /* counters of its translations */
    uint64_t left, more;           /* times it ended early; times that longer ones ended with it */
};

/* A translation of one instruction alone, in a machine. */
struct gt_etrace_alone {
    struct gt_etrace_alone *next;
    uint64_t pc;
    uint32_t counter;              /* how often it ran as a block that is counted */
    struct gt_etrace_place *place; /* early_exit.c; NULL: it has not left a block yet */
};

/* A page of code. */
struct gt_etrace_page {
    struct gt_etrace_block *blocks[GT_ETRACE_CHAINS]; /* that start there, by their start */
    uint64_t starts[GT_PAGE / 4 / 64];                /* where; a bit for each four bytes */
    GArray *places;                                   /* early_exit.c; NULL: none */
};

struct gt_etrace_lane;

struct gt_etrace_vcpu {
    struct gt_etrace_run run; /* packet under way; else one that takes no entry */
    struct {                  /* MEM packets under way, up to `at`; atomic */
        uint8_t *at, *end;    /* of the buffer's room; end NULL: none are */
    } mem;
    uint64_t time;                       /* clock=insn: after the block under way */
    const struct gt_etrace_block *block; /* under way; NULL: none yet */
    uint16_t unit;                       /* of its packets */
    bool pending;                        /* clock=host: it is to be put yet, as: */
    uint64_t start, end, since;
    struct gt_etrace_lane *lane; /* its thread's; NULL: it has not run yet */
    uint64_t mapping;            /* bytes that an mmap under way maps; 0: none is */
} __attribute__((aligned(64)));

struct gt_etrace {
    struct gt_etrace_vcpu *vcpus; /* GT_ETRACE_MAX_VCPUS */
    unsigned bits;                /* of the guest */
    bool host_clock;
    bool live;   /* somebody reads while the guest runs */
    bool values; /* the host tells those of memory accesses */

    struct gt_host_info host;
    struct gt_etrace_arch arch;
    unsigned flags;
    struct gt_packet_sink *outlet;
    const struct gt_syscalls *syscalls; /* user mode; NULL: unknown target */

    pthread_mutex_t lock;  /* of what follows */
    struct gt_pages pages; /* of struct gt_etrace_page */
    GPtrArray *met;        /* with GT_ETRACE_F_COVERAGE: the first block of each place, in order */
    GHashTable *devices;   /* place of a device -> value seen there last */
    struct gt_etrace_lane *lanes;
    GPtrArray *counters; /* sets of cells, or of numbers; `n_counters` are in use */
    uint32_t n_counters;
    unsigned n_vcpus; /* 1 + highest index seen; atomic */
    unsigned n_units; /* that were given away; in user mode one a thread */
    unsigned streams; /* readers, or files, that were begun; atomic */
    bool finished;    /* atomic */
};

extern struct gt_etrace gt_etrace;

/* target.c: false for an unknown target */
bool gt_etrace_arch_of(const char *target, struct gt_etrace_arch *out);
/* Bytes of an e_machine's longest instructions, where most are as long; 0: it does not matter. */
uint8_t gt_etrace_longest_insn(uint32_t machine);

/* code.c */
void gt_etrace_on_translate(void *self, struct gt_block *block);
void gt_etrace_on_flush(void *self);

/* maps.c: user mode only. GT_E_NOMEM, GT_E_IO. */
int gt_etrace_maps_start(struct gt_error *err);
void gt_etrace_maps_stop(void);
/* A block is translated; without the lock. */
void gt_etrace_maps_look(const struct gt_block *block);
void gt_etrace_maps_on_mmap(struct gt_etrace_vcpu *v, uint64_t size);
void gt_etrace_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);
void gt_etrace_maps_fork_prepare(void);
void gt_etrace_maps_fork_parent(void);
void gt_etrace_maps_fork_child(void);

/* block_cache.c, with the lock */
/* The kept block that is equal to `want`; its instructions' sizes are apart. NULL: no memory. */
struct gt_etrace_block *gt_etrace_keep(const struct gt_etrace_block *want, const uint8_t *sizes);
struct gt_etrace_rare *gt_etrace_rare(struct gt_etrace_block *b); /* made where there is none */
/* The page of an address. */
struct gt_etrace_page *gt_etrace_page(uint64_t addr);
void gt_etrace_forget_all(void);

/* exec.c */
void gt_etrace_on_block(unsigned vcpu, void *block);        /* clock=insn */
void gt_etrace_on_block_listed(unsigned vcpu, void *block); /* the same, with EXEC alone */
void gt_etrace_on_block_host(unsigned vcpu, void *block);   /* clock=host */
void gt_etrace_on_block_count(unsigned vcpu, void *block);  /* clock=insn, no EXEC: time only */
/* In a block of one instruction, an access to memory. */
void gt_etrace_on_lone_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *block);
/* The block under way was left after its instruction at `pc`. */
void gt_etrace_left_at(struct gt_etrace_vcpu *v, uint64_t pc);

/* mem.c */
void gt_etrace_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *index);
void gt_etrace_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from,
                                uint64_t to);

/* text.c */
void gt_etrace_on_block_registers(unsigned vcpu, void *block);
/* TB and NOTE of a new translation. */
void gt_etrace_put_code(struct gt_block *block, const struct gt_etrace_block *b);

enum { GT_ETRACE_COUNTERS = 4096 }; /* of each set */
/* The set that the counter is in. */
void *gt_etrace_counter_set(uint32_t counter);
/* count.c; all but gt_etrace_put_counts with the lock */
void gt_etrace_count(struct gt_block *block, struct gt_etrace_block *b);
uint32_t gt_etrace_new_counter(void);
/* No translated code adds to it any more, and no vCPU runs: what it counted. It is used again. */
uint64_t gt_etrace_end_counter(uint32_t counter);
/* By the vCPU; where the host has no cells, by all. */
uint64_t gt_etrace_counted(uint32_t counter, unsigned vcpu);
/* Those that are not what was written last. Returns how many; any thread. */
size_t gt_etrace_put_counts(void);

/* early_exit.c, of machines, with the lock */
/* It is counted from now on. */
void gt_etrace_left_add(struct gt_etrace_block *b);
/* A translation of b, which is one instruction: its counter. */
uint32_t gt_etrace_left_watch(struct gt_block *block, struct gt_etrace_block *b);
/* All translations are gone. */
void gt_etrace_left_forget(void);

/* control.c: GT_E_USAGE, GT_E_RANGE, GT_E_EXISTS, GT_E_IO. The path lives as long as QEMU.
 * After stop no command is under way. */
int gt_etrace_control_start(const char *path, struct gt_error *err);
void gt_etrace_control_stop(void);

/* buffer.c */
/* Room for n bytes, at most GT_ETRACE_BUFFER, in the calling thread's lane: where packets other
 * than EXEC go, after the entries so far, of the vCPU or (NULL) of none. NULL: nothing is recorded
 * any more. Else the lane is locked until gt_etrace_put_end. */
struct gt_writer *gt_etrace_put_begin(struct gt_etrace_vcpu *v, size_t n);
void gt_etrace_put_end(void);
/* The same, and MEM packets of the vCPU, which the packet was put for, are under way: they may
 * follow it, where v->mem says, until anything else is put. */
void gt_etrace_put_end_mem(struct gt_etrace_vcpu *v);
/* An execution entry that gt_etrace_run_add refused. */
void gt_etrace_add_slowly(struct gt_etrace_vcpu *v, uint64_t start, uint64_t end, uint64_t time,
                          uint64_t until);
/* The newest entry, if it is still in the buffer: where; NULL: it is not. */
uint8_t *gt_etrace_newest(const struct gt_etrace_vcpu *v);
/* The vCPU that ran last on the calling thread, or began there. */
const struct gt_etrace_vcpu *gt_etrace_current(void);
void gt_etrace_on_vcpu_init(void *self, unsigned vcpu);
void gt_etrace_on_vcpu_exit(void *self, unsigned vcpu);
/* Of all vCPUs, none of which runs. */
void gt_etrace_put_all_listed(void);
/* What the outlet has to tell, on standard error. */
void gt_etrace_tell_news(void);

/* finish.c */
void gt_etrace_on_vcpu_idle(void *self, unsigned vcpu);
void gt_etrace_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_etrace_on_exit(void *self);
/* What the calling thread, which is no vCPU's, has put. */
void gt_etrace_hand_over_own(void);
size_t gt_etrace_put_head(void *self, uint8_t *out);
size_t gt_etrace_put_mark(void *self, uint64_t bytes, uint8_t *out);
/* tail.c, for the outlet */
const uint8_t *gt_etrace_rest(void *self, size_t *n);
void gt_etrace_tick(void *self);
int gt_etrace_watch_forks(struct gt_error *err);

static inline uint32_t gt_etrace_insn_size(const struct gt_etrace_block *b, uint32_t i)
{
    return b->insn_size ? b->insn_size : b->sizes[i];
}

static inline unsigned gt_etrace_number(const struct gt_etrace_vcpu *v)
{
    return (unsigned)(v - gt_etrace.vcpus);
}

/* Blocks that run are listed. */
static inline bool gt_etrace_is_listed(void)
{
    const unsigned others =
        GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO | GT_ETRACE_F_CPU | GT_ETRACE_F_DISAS;
    return gt_etrace.flags & GT_ETRACE_F_EXEC && !(gt_etrace.flags & others) &&
           !gt_etrace.host_clock;
}

/* The vCPU has a packet of entries under way. */
static inline bool gt_etrace_is_open(const struct gt_etrace_vcpu *v)
{
    return v->run.end_time != UINT64_MAX;
}

/* The time of instruction `i` of the block under way. */
static inline uint64_t gt_etrace_time_at(const struct gt_etrace_vcpu *v, size_t i)
{
    if (gt_etrace.host_clock)
        return gt_clock_monotonic();
    return v->block ? v->time - v->block->insns + i : v->time;
}

/* Where its MEM packets under way end; NULL: none are. */
static inline uint8_t *gt_etrace_mem_end(const struct gt_etrace_vcpu *v)
{
    bool open = __atomic_load_n(&v->mem.end, __ATOMIC_RELAXED) != NULL;
    return open ? __atomic_load_n(&v->mem.at, __ATOMIC_ACQUIRE) : NULL;
}

#endif
