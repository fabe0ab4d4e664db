/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The execlog recorder, shared among its files:
 *   execlog.c      arguments, installation, events
 *   code.c         translation: blocks are instrumented
 *   block_cache.c  the blocks that are kept
 *   filter.c       which instructions of a block are logged, and which look at registers
 *   exec.c         instructions that run, their memory accesses: the hot path
 *   regs.c         registers that are watched
 *   gate.c         who needs all vCPUs to be left alone
 *   finish.c       what waits goes out: a guest that waits, fork, execve, the end
 *   where.c        places in the code: ranges, functions, start= and stop=
 *   last.c         a sink that keeps the last lines for another one
 *   text.c         the sink that writes text
 *   binary.c       the sink that writes the binary form
 *
 * A line is one execution of an instruction that is logged. What never changes of it, its block
 * knows; when the instruction runs only its number is noted. Lines are told to a sink later, many
 * at once: where memory is accessed or another block begins. The newest line of a vCPU is complete
 * when its next one begins.
 *
 * A sink is told everything of one vCPU in order, by one thread at a time; of several vCPUs at the
 * same time. It keeps what it has of a vCPU to itself until it hands over whole lines.
 */
#ifndef GT_PLUGIN_EXECLOG_EXECLOG_H
#define GT_PLUGIN_EXECLOG_EXECLOG_H

#include "base/sink/sink.h"
#include "guest/arch/syscalls.h"
#include "qemu/host.h"

#include <glib.h>
#include <inttypes.h>
#include <pthread.h>

enum {
    GT_EXLOG_MAX_VCPUS = 65536,
    GT_EXLOG_BUFFER = 256 << 10, /* bytes that are handed over at once */
    GT_EXLOG_PLACES = 64,        /* blocks of fewer lines give theirs to others */
};

struct gt_exlog_block;

/* An instruction of a block that is logged. */
struct gt_exlog_line {
    const struct gt_exlog_block *block;
    const char *disassembly; /* as QEMU says it, "" where it says nothing */
    uint64_t pc;
    uint32_t opcode; /* the first four bytes, in the host's order, missing ones 0 */
    uint32_t number; /* in the block: block->lines + number */
};

/* A block of guest code, described once, however often it is translated; it is kept until all
 * translated code is thrown away. Blocks of the same content are one. */
struct gt_exlog_block {
    size_t n;          /* lines, at least one */
    uint64_t begun;    /* of them, where it begins: 1, if its first instruction has one, or 0 */
    void *described;   /* the sink's */
    char *image;       /* what makes it equal to another */
    size_t image_size; /* bytes */
    guint hash;
    bool marked;                 /* somebody needs it */
    struct gt_exlog_block *next; /* of gt_exlog.places */
    struct gt_exlog_line lines[];
};

struct gt_exlog_access {
    bool store;
    uint8_t size;      /* bytes; 0: unknown */
    uint64_t address;  /* physical where there is a place, else virtual */
    const char *place; /* a machine's memory region: "RAM", a device; NULL: user mode or unknown.
                        * It lives as long as the call */
    uint64_t value[2]; /* low half first */
    bool has_value;    /* the host tells values */
};

/* A watched register: one for each name, whichever vCPU has it. */
struct gt_exlog_register {
    const char *name; /* lower case */
    unsigned number;  /* counted from 0, in the order of their being found */
    bool told;        /* that it is larger than the log can take */
};

struct gt_exlog_watched;

struct gt_exlog_vcpu {
    uint32_t busy; /* a callback is at it */
    uint32_t index;
    const struct gt_exlog_block *block; /* under way; NULL: none */
    uint64_t *started;                  /* how many of its lines have begun; a cell, or: */
    uint64_t counted;
    uint64_t told; /* how many of them the sink knows */
    bool known;    /* vcpu_init was seen */
    bool waits;    /* its newest line may get more; else it is complete, or there is none */
    void *sink;    /* the sink's */
    struct gt_exlog_watched *watched; /* NULL: no register */
    size_t n_watched;
    bool muted;          /* the newest line is not logged, nor what belongs to it */
    uint64_t until_next; /* every=N: lines to leave out before the next one */
    uint64_t handed;     /* when whole lines went out before they had to, monotonic ns */
} __attribute__((aligned(64)));

struct gt_exlog_sink {
    bool short_values; /* a register's value is at most GT_EXECLOG_MAX_VALUE bytes */
    /* Once, where there is a packet sink: what it is to be told of the form. */
    int (*options)(struct gt_packet_sink_options *o, struct gt_error *err);
    /* The vCPU begins: its `sink` is to be set. False: nothing of it can be recorded. */
    bool (*begin)(struct gt_exlog_vcpu *v);
    /* A block is new; before any of its lines. What it returns becomes its `described`. With the
     * lock. */
    void *(*describe)(const struct gt_exlog_block *b);
    /* The block is not used any more. */
    void (*forget)(void *described);
    /* The lines `from` to `to` - 1 of the block ran, one after the other. The vCPU's line before
     * them is complete. */
    void (*lines)(struct gt_exlog_vcpu *v, const struct gt_exlog_block *b, size_t from, size_t to);
    /* Of the newest line: an access; a register has another value than it had. Where no line was
     * told yet, neither are these. */
    void (*access)(struct gt_exlog_vcpu *v, const struct gt_exlog_access *a);
    void (*change)(struct gt_exlog_vcpu *v, const struct gt_exlog_register *r, const uint8_t *bytes,
                   size_t n);
    /* The newest line is complete, though none follows yet. */
    void (*complete)(struct gt_exlog_vcpu *v);
    /* The vCPU's end. The newest line is complete now; where it was before (complete), it is
     * logged once more; where there was none, a line without anything is. */
    void (*end)(struct gt_exlog_vcpu *v);
    /* All whole lines of the vCPU go out now. */
    void (*hand_over)(struct gt_exlog_vcpu *v);
    /* Marks the blocks of the vCPU that will be needed. NULL: none are. */
    void (*mark)(struct gt_exlog_vcpu *v);
    /* Around fork(); may be NULL. */
    void (*fork_prepare)(void);
    void (*fork_done)(void);
};

struct gt_exlog {
    struct gt_exlog_vcpu *vcpus; /* GT_EXLOG_MAX_VCPUS */
    uint32_t gate;               /* enum gt_exlog_gate */
    bool fences;                 /* whoever closes the gate cannot make the others see it */
    bool cells_move;             /* vCPUs may come for which cells have to be moved */
    bool many;                   /* a machine of several vCPUs */
    bool physical;               /* a machine: accesses are physical, with a place */
    bool values;                 /* the host tells values, and the sink wants them */
    const struct gt_exlog_sink *sink;

    struct gt_host_info host;
    struct gt_packet_sink *outlet;      /* NULL: QEMU's plugin log */
    bool live;                          /* somebody reads while the guest runs */
    void *cells;                        /* NULL: the host has none */
    bool stores;                        /* translated code stores into them; atomic */
    const struct gt_syscalls *syscalls; /* user mode; NULL: unknown target */

    bool chosen;    /* not all lines are told: every=, start=, stop= */
    bool off;       /* none is, until start=; atomic */
    uint64_t every; /* 0 or 1: each */
    uint64_t last;  /* 0: all are kept */

    GPtrArray *register_globs; /* lower case; NULL: no registers */
    bool rdisas;               /* only after instructions that name one */
    bool filtered;             /* not all instructions are logged */

    pthread_mutex_t lock; /* of what follows */
    GHashTable *blocks;   /* set of struct gt_exlog_block */
    GHashTable *newest;   /* first line's address -> its newest block; of a program's one thread */
    GPtrArray *stale;     /* struct gt_exlog_block of code that was written over; not in `blocks` */
    guint stale_most;     /* of them, until their places are taken; 0: not known yet */
    struct gt_exlog_block *places[GT_EXLOG_PLACES]; /* of stale ones, by their lines, still whole */
    GPtrArray *registers;                           /* struct gt_exlog_register */
    unsigned n_vcpus;                               /* 1 + highest index seen */
    uint64_t cut_lines;                             /* were too long; atomic */
};

extern struct gt_exlog gt_exlog;

/* By the vCPU's thread, or, while its cell may move, that of another one which begins. */
static inline void gt_exlog_set_started(struct gt_exlog_vcpu *v, uint64_t *at)
{
    __atomic_store_n(&v->started, at, __ATOMIC_RELAXED);
}
extern const struct gt_exlog_sink gt_exlog_text, gt_exlog_binary;

/* What happens where an instruction begins. */
enum gt_exlog_step {
    GT_EXLOG_SKIP,      /* nothing */
    GT_EXLOG_LOG,       /* its line begins */
    GT_EXLOG_CHECK,     /* registers are looked at; the newest line is complete */
    GT_EXLOG_CHECK_LOG, /* both, its line begins */
};

/* One instruction under translation. */
struct gt_exlog_insn {
    uint64_t pc;
    uint32_t opcode;
    uint32_t code;           /* a hash of its bytes */
    const char *disassembly; /* never NULL */
    enum gt_exlog_step step;
};

/* filter.c */
int gt_exlog_add_prefix(const char *value, struct gt_error *err);  /* ifilter= */
int gt_exlog_add_address(const char *value, struct gt_error *err); /* afilter= */
/* Decides `step` of each, in the order of the block. With the lock. */
void gt_exlog_filter(struct gt_exlog_insn *insns, size_t n);

/* where.c */
struct gt_exlog_trigger {
    bool stop;            /* else start */
    uint64_t count, seen; /* it works from its count-th time on */
};

int gt_exlog_add_range(const char *value, struct gt_error *err);  /* range= */
int gt_exlog_add_symbol(const char *value, struct gt_error *err); /* sym= */
int gt_exlog_add_elf(const char *value, struct gt_error *err);    /* elf= */
int gt_exlog_add_start(const char *value, struct gt_error *err);  /* start= */
int gt_exlog_add_stop(const char *value, struct gt_error *err);   /* stop= */
/* Looks for the functions in the files of elf=. */
int gt_exlog_find_places(struct gt_error *err);
/* These with the lock. learn: code of the file that is mapped there is about to be translated. */
void gt_exlog_learn_code(uint64_t pc, const void *host);
bool gt_exlog_is_inside(uint64_t pc);
/* Those of this address, one after the other; *from begins with 0. NULL: no more. */
struct gt_exlog_trigger *gt_exlog_trigger_at(uint64_t pc, size_t *from);
/* Says which functions were never seen. */
void gt_exlog_tell_missing(void);

/* last.c: a sink before the other one. */
const struct gt_exlog_sink *gt_exlog_last(const struct gt_exlog_sink *sink, uint64_t n);
/* The sink behind is told what is kept, and nothing is kept any more. */
void gt_exlog_last_tell(struct gt_exlog_vcpu *v);

/* execlog_code.c */
void gt_exlog_on_translate(void *self, struct gt_block *block);

/* block_cache.c */
void gt_exlog_on_flush(void *self);
guint gt_exlog_block_hash(gconstpointer block);
gboolean gt_exlog_block_equal(gconstpointer a, gconstpointer b);
guint gt_exlog_hash(const uint8_t *bytes, size_t n);
/* The kept block that has these lines, `lines` of n instructions; NULL: no memory. With the lock.
 */
struct gt_exlog_block *gt_exlog_keep(const struct gt_exlog_insn *insns, size_t n, size_t lines);
/* Where many blocks are stale their places become free. Without the lock, on a vCPU's thread. */
void gt_exlog_reclaim(void);

/* exec.c */
void gt_exlog_on_block(unsigned vcpu, void *block);
void gt_exlog_on_line(unsigned vcpu, void *line);
void gt_exlog_on_line_regs(unsigned vcpu, void *line); /* GT_EXLOG_CHECK_LOG */
void gt_exlog_on_check(unsigned vcpu, void *nothing);  /* GT_EXLOG_CHECK */
void gt_exlog_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *line);
void gt_exlog_on_trigger(unsigned vcpu, void *trigger);
/* Tells the sink the lines that have begun. By whoever is at the vCPU. */
void gt_exlog_tell(struct gt_exlog_vcpu *v);

/* regs.c */
int gt_exlog_add_glob(const char *value, struct gt_error *err); /* reg= */
/* Finds the watched registers of a new vCPU, and what they hold. False: there is none for a glob;
 * the error says so. */
bool gt_exlog_find_registers(struct gt_exlog_vcpu *v, struct gt_error *err);
void gt_exlog_check_registers(struct gt_exlog_vcpu *v);
/* The text has the name of a watched register. With the lock. */
bool gt_exlog_names_register(const char *text);

/* finish.c */
enum gt_exlog_gate { GT_EXLOG_OPEN, GT_EXLOG_HELD, GT_EXLOG_CLOSED };
/* Waits until no callback is at any vCPU, and keeps others from being, until `open` or, closed, for
 * ever. False: it is closed already. */
bool gt_exlog_shut(enum gt_exlog_gate gate);
void gt_exlog_reopen(void);
/* Around a fork: it does not move. */
void gt_exlog_gate_lock(void);
void gt_exlog_gate_unlock(void);
/* The gate was not open: false: the recording has ended. */
bool gt_exlog_wait_for_gate(struct gt_exlog_vcpu *v);
void gt_exlog_on_vcpu_init(void *self, unsigned vcpu);
void gt_exlog_on_vcpu_exit(void *self, unsigned vcpu);
void gt_exlog_on_vcpu_idle(void *self, unsigned vcpu);
void gt_exlog_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_exlog_on_exit(void *self);
void gt_exlog_on_death(void);
int gt_exlog_init_gate(struct gt_error *err);
/* What the outlet has to tell, on standard error. */
void gt_exlog_tell_news(void);

/* A callback begins to be at the vCPU: false: it must leave everything alone. Whoever shuts the
 * gate makes all threads see it (membarrier), so that no fence is needed here. */
static inline bool gt_exlog_enter(struct gt_exlog_vcpu *v)
{
    if (gt_exlog.fences) {
        __atomic_exchange_n(&v->busy, 1, __ATOMIC_SEQ_CST);
    } else {
        __atomic_store_n(&v->busy, 1, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    if (__builtin_expect(__atomic_load_n(&gt_exlog.gate, __ATOMIC_SEQ_CST) != GT_EXLOG_OPEN, 0))
        return gt_exlog_wait_for_gate(v);
    return true;
}

static inline void gt_exlog_leave(struct gt_exlog_vcpu *v)
{
    __atomic_store_n(&v->busy, 0, __ATOMIC_RELEASE);
}

#endif
