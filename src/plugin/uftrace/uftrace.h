/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uftrace recorder, shared among its files:
 *   uftrace.c      arguments, installation, events
 *   code.c         translation: blocks classified and instrumented
 *   memory.c       which address code of a machine has
 *   page.c         what is known of the guest's code, by page
 *   block_cache.c  descriptions of blocks
 *   block_entry.c  which blocks need a callback
 *   transfer.c     callbacks from translated code: the hot path
 *   vcpu.c         vCPUs: their words and times, how they begin and end
 *   vectors.c      which blocks of a machine begin handlers
 *   system.c       handlers and contexts of machines
 *   push.c         calls without a call instruction
 *   linux.c        names of the threads of a Linux guest
 *   level.c        a call stack for each privilege level
 *   process.c      what a user-mode guest does to itself: signals, fork, exec, unmapping
 *   guest_read.c   memory of a guest process
 *   output.c       tasks, modules and metadata in the data directory
 *   live_clock.c   the newest time, for others
 *   recorder.c     what all of them share
 *   finish.c       the end: what is still missing, losses, messages
 */
#ifndef GT_PLUGIN_UFTRACE_UFTRACE_H
#define GT_PLUGIN_UFTRACE_UFTRACE_H

#include "base/stream/stream.h"
#include "base/worker.h"
#include "format/uftrace/dir.h"
#include "guest/arch/arch.h"
#include "guest/arch/syscalls.h"
#include "plugin/common/modules.h"
#include "plugin/common/pages.h"
#include "plugin/uftrace/task.h"
#include "qemu/host.h"
#include "track/transfer.h"

#include <pthread.h>

/* Per-vCPU words that translated code works on, where the host can do that. */
struct gt_cells {
    uint64_t mark;
    uint64_t insns; /* retired before the current block */
};

/* What is known of a thread of a Linux guest. */
struct gt_linux_task {
    char comm[16];
    uint32_t pid, tgid;
};

struct gt_vcpu {
    struct gt_cells own;     /* hosts without cells; `cells` points here then */
    uint64_t insn_base;      /* instruction clock: time = base + retired */
    struct gt_cells *cells;  /* NULL: to be found each time, they may move */
    struct gt_thread thread; /* the hot path needs its first members, and those above */
    uint32_t block_insns;    /* hosts without cells: of the block that runs */
    uint32_t tid;
    bool begun;
    bool refused;                /* it could not begin: not recorded */
    char name[16];               /* user mode: the thread's, as far as it was recorded */
    char last_name[16];          /* user mode: what it was when the program was about to exit */
    struct gt_levels *levels;    /* NULL: privilege levels are not told apart */
    uint64_t left_sp;            /* machines: the stack pointer, before it is loaded */
    bool loads_sp;               /* machines: it is loaded now */
    const struct gt_stack *seen; /* machines: the stack that was dealt with last */
    const struct gt_stack *left; /* machines: a thread switch is under way there; NULL: none is */
    struct gt_linux_task next;   /* to this thread */
    uint64_t mapping;            /* bytes that an mmap under way maps; 0: none is */
    bool maps_anon;              /* without a file */
    bool in_exec;                /* its frames were closed for an execve that has not failed yet */
} __attribute__((aligned(64)));

enum {
    GT_MAX_VCPUS = 65536,
    GT_MAX_VCPUS_LIMITED = 1024, /* where address space is limited (RLIMIT_AS) */
};

enum gt_tasks { GT_TASKS_STACK, GT_TASKS_CPU };
enum gt_clock { GT_CLOCK_AUTO, GT_CLOCK_INSN, GT_CLOCK_HOST };

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

/* transfer.c */
struct gt_cells *gt_vcpu_cells(struct gt_vcpu *v, unsigned index);
/* The shared one: its landings are never plain, and never begin a recording. */
void gt_vcpu_refuse(struct gt_vcpu *v);
/* A landing that takes thought, at that time; returns the mark. */
uint64_t gt_land_slowly(struct gt_vcpu *v, struct gt_code *code, uint64_t mark, uint64_t time);
uint64_t gt_vcpu_time(const struct gt_vcpu *v, const struct gt_cells *cells);
uint64_t gt_host_clock(void);
/* A landing at a block, whose instructions it counts; `data` is of gt_landing_data. */
void gt_on_landing(unsigned vcpu, void *data);
/* The same inside a block. */
void gt_on_landing_inside(unsigned vcpu, void *code);
/* In a block that counts its instructions by itself. */
void gt_on_counted_landing(unsigned vcpu, void *code);
/* The description, and how many instructions there are. NULL: its address leaves no room. */
enum { GT_LANDING_SHIFT = 48 };
static inline void *gt_landing_data(const struct gt_code *code)
{
    uint64_t p = (uint64_t)(uintptr_t)code, insns = code->insns;
    return p >> GT_LANDING_SHIFT ? NULL : (void *)(uintptr_t)(p | insns << GT_LANDING_SHIFT);
}
void gt_on_block(unsigned vcpu, void *code);
void gt_on_unknown_block(unsigned vcpu, void *code);
void gt_on_counted_unknown_block(unsigned vcpu, void *code);
/* Never plain. */
void gt_on_special_block(unsigned vcpu, void *code);
extern const struct gt_sink gt_uftrace_sink;
/* The record of a plain landing. */
static inline uint64_t gt_landed_word(const struct gt_landed *found)
{
    return found->leaves ? gt_uftrace_exit(found->depth, found->addr)
                         : gt_uftrace_entry(found->depth, found->addr);
}
/* From now on times are the host's. */
void gt_use_host_clock(uint64_t offset);

/* code.c */
/* An instruction of the block that is being translated. */
struct gt_decoded {
    struct gt_insn_ref *ref;
    uint64_t pc; /* not always QEMU's: see code.c */
    uint8_t size, bytes[16];
    struct gt_insn insn;
};

static inline uint64_t gt_decoded_end(const struct gt_decoded *d)
{
    return d->pc + d->size;
}

struct gt_translation {
    struct gt_block *block;
    size_t n; /* 1 or more */
    struct gt_decoded *insn;
};

void gt_on_translate(void *self, struct gt_block *block);
/* The function is a signal handler: so are its blocks that were translated before. With
 * gt_rec.lock. */
void gt_code_is_handler(struct gt_func *fn);
/* The function at an address of a machine. */
struct gt_func *gt_code_func_at(uint64_t pc);

/* memory.c; with gt_rec.lock */
/* What is to be added to the addresses of the block that is being translated. */
uint64_t gt_memory_shift(struct gt_block *block);
/* Of addresses in the page of memory that the block begins in: it leads there by running on or by a
 * branch; whether any code of that page has done so. Other programs' pages have the same addresses.
 */
void gt_memory_note_flow(uint64_t pc);
bool gt_memory_has_flow(uint64_t pc);

/* page.c; with gt_rec.lock */
enum { GT_PLACE = 64 };
/* What is known of GT_PLACE bytes of code; a bit for each. */
struct gt_place {
    uint64_t flow;        /* reached by running on or by a branch */
    uint64_t call;        /* by a call */
    uint64_t arrival;     /* reached otherwise, too */
    struct gt_kept *kept; /* blocks that begin there */
};
/* Made where there is none yet. */
struct gt_place *gt_place_at(uint64_t pc);

struct gt_page {
    struct gt_place place[GT_PAGE / GT_PLACE];
};

/* block_cache.c; with gt_rec.lock */
struct gt_kept {
    uint64_t pc;
    struct gt_code *code;
    struct gt_kept *next; /* in the place */
};
/* A description at the address, and the next one there; NULL: none. */
struct gt_kept *gt_kept_at(uint64_t pc);
struct gt_kept *gt_kept_next(const struct gt_kept *kept);
/* The kept description equal to `want`. NULL without memory: the block stays uninstrumented. */
struct gt_code *gt_keep_code(const struct gt_code *want);

/* block_entry.c; with gt_rec.lock */
enum gt_arrival {
    GT_ARRIVAL_NONE,    /* control comes from its own function only: no look needed */
    GT_ARRIVAL_LOOK,    /* a call, a return or a jump may arrive */
    GT_ARRIVAL_MIXED,   /* the same, and as often control comes from its own function */
    GT_ARRIVAL_JUMP,    /* the same, by an indirect jump that leaves a mark */
    GT_ARRIVAL_UNKNOWN, /* no code seen so far leads there: a handler, perhaps */
};
/* May find out that it is no vector. */
enum gt_arrival gt_arrival_of(const struct gt_translation *t, struct gt_code *code);
/* True where code seen so far leads to the address. */
bool gt_arrival_is_known(uint64_t pc);
/* Where the block leads to; its last instruction, and whether its function is known. */
void gt_arrivals_note(const struct gt_translation *t, bool known);

/* system.c: machines */
/* What the block needs beside its look: handlers that end, stack pointers loaded and stored. */
void gt_machine_watch(const struct gt_translation *t, struct gt_code *code);
/* False: none can begin at the block. */
bool gt_machine_may_be_vector(const struct gt_code *code);
/* True where a handler begins at the block, which no code seen so far leads to. */
bool gt_machine_is_vector(struct gt_vcpu *v, struct gt_code *code, uint64_t mark);
void gt_machine_enter_at(struct gt_vcpu *v, struct gt_cells *cells, struct gt_code *code);
void gt_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to);
/* The vCPU's thread goes on with another stack, perhaps. */
void gt_machine_landed(struct gt_vcpu *v, uint64_t time);

/* push.c: machines; with gt_rec.lock */
struct gt_pushed { /* an address, as the last constant of that kind that was pushed */
    struct gt_push push;
    int above; /* so many values were pushed since; less than 0: it is gone */
};
/* When the block begins. */
struct gt_pushed gt_pushed_before(const struct gt_translation *t);
/* After one more instruction of it. */
void gt_pushed_see(struct gt_pushed *p, const struct gt_decoded *d);
/* The block's last instruction, which may be another than its bytes alone say. */
void gt_pushed_classify(struct gt_translation *t);

/* linux.c: machines that run a Linux which the code map knows */
/* At load, after the code map was read. */
void gt_linux_init(void);
/* The instruction loads the stack pointer. With gt_rec.lock. */
void gt_linux_watch(const struct gt_decoded *insn);
/* A function begins with the instruction. With gt_rec.lock. */
void gt_linux_watch_entry(const struct gt_decoded *first);
/* The vCPU's thread goes on with a stack, perhaps another one: it gets its name. */
void gt_linux_landed(struct gt_vcpu *v, uint64_t time);
/* Which threads there were, in a text file; on the worker. */
int gt_linux_write(struct gt_error *err);
/* What is missing in there. */
void gt_linux_tell(void);

/* level.c: with gt_rec.privilege_levels only, but for gt_level_is_user */
/* At load. GT_E_UNSUPPORTED: not with this host, or guest. */
int gt_levels_init(struct gt_error *err);
/* True where the block being translated is a user program's; false where that is not known. With
 * gt_rec.lock. */
bool gt_level_is_user(void);
/* The level of the block that is being translated. With gt_rec.lock. */
unsigned gt_level_translated(void);
/* A vCPU begins with the block: before its thread is. */
void gt_levels_begin(struct gt_vcpu *v, const struct gt_code *code);
/* A landing, perhaps at another level. True: a handler has begun there, all is done. */
bool gt_level_land(struct gt_vcpu *v, struct gt_code *code, uint64_t mark, uint64_t time);
/* A handler is about to begin with the block, or where the vCPU is now (NULL). */
void gt_level_enter(struct gt_vcpu *v, const struct gt_code *code, uint64_t time);
/* True where the exception return at the block's end may lead to another world. */
bool gt_level_leaves_world(const struct gt_code *code);
/* That is about to run; it has ended a handler, if any. Where it leads to another world, the mark
 * becomes what it was there. In a callback that may read registers. */
void gt_level_change_world(struct gt_vcpu *v, const struct gt_code *code, uint64_t *mark,
                           uint64_t time);
/* The calls of the worlds but the current one end. */
void gt_levels_end(struct gt_vcpu *v, uint64_t time);
extern const struct gt_sink gt_level_sink;

/* process.c */
void gt_on_vcpu_init(void *self, unsigned vcpu);
void gt_on_vcpu_exit(void *self, unsigned vcpu);
void gt_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);
/* The first landing of a vCPU (user mode: on its thread). */
void gt_vcpu_begin(struct gt_vcpu *v, struct gt_cells *cells, const struct gt_code *code);
/* Its calls end, and its thread's name is read: once, whoever comes first, the thread or the end of
 * the recording. */
void gt_vcpu_end(struct gt_vcpu *v, struct gt_cells *cells);
/* From now on no vCPU ends; returns when those have that were at it (after a second at most). */
void gt_vcpus_close(void);
/* In a forked child: threads of the parent that were at it are not here. */
void gt_vcpus_forked(void);
/* The calling thread's; NULL: it is none of a vCPU that has begun. */
struct gt_vcpu *gt_vcpu_current(void);
/* The newest time of all. With the lock. */
void gt_vcpu_note_time(uint64_t time);
/* The time in a system call: hosts without cells count a block when the next one begins. */
uint64_t gt_vcpu_time_after_block(const struct gt_vcpu *v, const struct gt_cells *cells);
/* Where the calling vCPU's call under way should arrive; GT_NO_ADDR: not known. */
uint64_t gt_vcpu_expects(void);
bool gt_process_init(struct gt_error *err);
/* The time of the calling vCPU's thread. */
uint64_t gt_process_time(void);
/* Reads memory of a guest process without trusting the address. */
bool gt_guest_read(uint64_t addr, void *out, size_t n);

/* output.c */
/* The directory, at load. */
int gt_output_create(struct gt_error *err);
/* Its first text files, when the guest is known: before the first task. */
void gt_output_start(void);
bool gt_output_open_stack(void *self, struct gt_thread *t, struct gt_stack *s, uint64_t time);
void gt_output_close_stack(void *self, struct gt_stack *s);
/* A task with a name; NULL: refused. */
struct gt_stream *gt_output_open_task(uint32_t id, const char *name, uint64_t time);
void gt_output_module_added(void *self, struct gt_module *m);
/* Code of a machine was recognised somewhere. With gt_rec.lock. */
void gt_output_code_found(void);
/* Where code was found, if it is not on disk yet; on the worker. */
int gt_output_put_found(struct gt_error *err);
/* The task's name, if it is not the one that is recorded. NULL: ask the kernel. */
void gt_output_name(struct gt_vcpu *v, const char *name, uint64_t time);
/* The program is about to exit: reads the names of all threads, which go on and may be gone when
 * QEMU says that it exits. User mode. */
void gt_output_keep_names(void);
/* The same for a context of a machine. */
void gt_output_name_stack(struct gt_stack *s, const char *name, uint64_t time);
void gt_output_forked(uint32_t parent, uint64_t time);
/* Tries again what could not be written; on the worker. GT_E_* of the first that fails. */
int gt_output_run_failed(struct gt_error *err);

/* live_clock.c */
/* When there is a directory; before the end. */
void gt_live_clock_create(void);
void gt_live_clock_remove(void);
static inline void gt_live_clock_set(uint64_t time)
{
    if (__builtin_expect(gt_rec.now != NULL, 0))
        __atomic_store_n(gt_rec.now, time, __ATOMIC_RELAXED);
}

/* finish.c */
void gt_output_finish(void);

#endif
