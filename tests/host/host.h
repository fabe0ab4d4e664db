/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripted host: a stand-in for QEMU that loads a plugin the way QEMU does, exports the
 * `qemu_plugin_*` functions of one ABI version (GT_SCRIPT_ABI) and plays a guest from a plan.
 *
 *   main.c        loads the plugin, plays, ends
 *   plan.c        the plan file: what scripted.py makes of a .script
 *   play.c        vCPUs on threads: translation blocks, faults, system calls, flushes
 *   instrument.c  what the plugin asked for at each block, and its execution
 *   abi.c         the exported functions; abi_state.c: those that read registers and memory
 *   load.c        loads the plugin
 *
 * It implements what docs/formats/qemu-plugin-abi.md promises and no more: callbacks and inline
 * operations run in the order of registration, before their instruction; memory callbacks after the
 * access. A scoreboard that grows moves, and the old memory faults from then on. Misuse ends the
 * host: instrumenting outside the translation callback, registers read without the flag, a
 * scoreboard entry of a vCPU that does not exist.
 *
 * Not modelled: QEMU lets system call and vCPU callbacks run while a scoreboard grows.
 */
#ifndef TESTS_HOST_HOST_H
#define TESTS_HOST_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GT_SCRIPT_ABI
#error "GT_SCRIPT_ABI: the version of the plugin ABI to export"
#endif

/* The guest's program: instructions in address order; a block is a run of them. */
struct insn {
    uint64_t addr;
    uint32_t size;
    char *disas; /* NULL: the host does not say */
};

/* What an instruction does: an access to memory, or a register gets a value. */
struct access {
    uint32_t insn; /* index in the block */
    char kind;     /* r, w; R, W: of 16 bytes; s: a register */
    uint64_t addr; /* s: its number */
    uint64_t value, high;
    bool wide, big_endian;
};

enum { NO_FAULT = -1 };

struct action {
    enum action_kind {
        DO_BLOCK,
        DO_REPEAT,
        DO_SYSCALL,
        DO_SYSCALL_RETURN,
        DO_FLUSH,
        DO_START,
        DO_JOIN,
        DO_SIGNAL,
        DO_AWAIT,
        DO_DISCONTINUITY,
        DO_MAP,
        DO_SHARE,
        DO_EXIT,
    } kind;
    uint32_t first, count; /* BLOCK: instructions; REPEAT: actions that follow, how often */
    int32_t fault;         /* BLOCK: the instruction that faults, or NO_FAULT */
    struct access *access;
    size_t n_access;
    uint64_t arg[9];
    char *path; /* MAP */
};

/* What one vCPU does from its start to its end. A vCPU that starts again has another one. */
struct life {
    unsigned vcpu;
    struct action *actions;
    size_t n;
    pthread_t thread;
    pid_t tid; /* 0: it does not run yet */
    bool started;
};

struct plan {
    char target[32];
    bool system, zero_base;
    unsigned vcpus, max_vcpus;
    uint64_t lo, size; /* guest memory */
    uint8_t *memory;   /* the host address of `lo` */
    uint64_t data;     /* guest address of `words` */
    struct {           /* machines: so many bytes of code at `from` lie in the memory at `to` */
        uint64_t from, size, to;
    } shared;
    unsigned word_size; /* 4 or 8 */
    struct insn *insns;
    size_t n_insns;
    struct scripted_register *registers; /* none: those of abi_state.c */
    size_t n_registers;
    struct life *lives;
    size_t n_lives;
};

enum { GT_PLAN_REGISTER = 1 << 16 };

/* A register that the plan names; its value is a vCPU's. */
struct scripted_register {
    char name[32];
    unsigned size; /* bytes, at most GT_PLAN_REGISTER; those after 8 are 0 */
    uint64_t value[4];
};

extern struct plan gt_recorder_plan;

/* Ends the process with a message. */
void gt_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *gt_grow(void *array, size_t n, size_t size);

/* plan.c */
void gt_plan_read(const char *path);
void *gt_recorder_guest(uint64_t addr);
/* The memory that code at the address lies in. */
void *gt_code_memory(uint64_t addr);
void gt_map_file(uint64_t addr, uint64_t size, const char *path);

/* instrument.c */
struct op {
    enum op_kind { OP_CALL, OP_ADD, OP_STORE, OP_ADD_SHARED, OP_MEMORY } kind;
    void (*fn)(unsigned vcpu, void *data);
    void (*memory_fn)(unsigned vcpu, uint32_t info, uint64_t addr, void *data);
    void *data;
    int flags, cond, rw;
    struct score *score; /* of ADD, STORE and conditional calls */
    size_t offset;
    uint64_t value;
    uint64_t *shared;
};

struct ops {
    struct op *at;
    size_t n;
};

struct tb;
struct tb_insn {
    const struct insn *insn;
    struct tb *tb;
    struct ops ops;
};

struct tb {
    uint32_t first, n;
    struct tb_insn *insns;
    struct ops ops;
    struct tb *next; /* of the same first instruction */
};

struct score {
    size_t element;
    uint8_t *memory;
    size_t mapped;
    struct score *next;
};

enum { COND_ALWAYS = 1, COND_NE = 3 };
enum { MEM_BIG_BIT = 1u << 4, MEM_STORE_BIT = 1u << 8 };

/* The block being translated on this thread, or NULL. */
extern __thread struct tb *gt_translating;
/* Flags of the callback that runs on this thread; -1: none. */
extern __thread int gt_callback_flags;
extern __thread unsigned gt_this_vcpu;
/* Whose memory callback runs on this thread. */
extern __thread const struct access *gt_this_access;

void gt_add_op(struct ops *ops, struct op op);
void gt_run_ops(const struct ops *ops, unsigned vcpu);
void gt_run_memory(const struct ops *ops, unsigned vcpu, const struct access *a);
void gt_free_tb(struct tb *tb);

struct score *gt_score_new(size_t element);
void *gt_score_find(const struct score *s, unsigned vcpu);
/* Makes room for the vCPU; nobody else may run. True where memory moved. */
bool gt_scores_grow(unsigned vcpu);

/* abi.c: events to the plugin, in the family's shape. */
void gt_tell_init(unsigned vcpu);
void gt_tell_vcpu_exit(unsigned vcpu);
void gt_tell_translate(struct tb *tb);
void gt_tell_flush(void);
void gt_tell_exit(void);
void gt_tell_syscall(unsigned vcpu, const uint64_t arg[9]);
void gt_tell_syscall_return(unsigned vcpu, int64_t number, int64_t result);
void gt_tell_discontinuity(unsigned vcpu, int kind, uint64_t from, uint64_t to);
/* Of the plugin that was loaded last. */
extern uint64_t gt_plugin_id;

/* load.c */
/* Loads it; false: refused. min: the oldest version that this host takes. */
bool gt_load_plugin(const char *path, int min, int argc, char **argv);

/* play.c */
void gt_play(void);

#endif
