/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A double of QEMU for tests: it defines every function of qemu/host.h, so that a plugin's objects
 * link and run without QEMU.
 *
 * The test chooses the host (host_double_start), builds blocks of guest code, and plays QEMU:
 * it has a block translated, which notes the callbacks and inline operations that the plugin
 * registers (struct host_double_hook), and runs the block, which executes them in QEMU's order:
 * those of the block, then those of each instruction before the instruction, each in the order of
 * registration; those of a memory access at the access.
 *
 * What the plugin reports through the host is collected: messages, the plugin log.
 *
 * One host a process; all state is in `host_double`, which the test may change between the calls.
 * Not thread-safe. A wrong use by the plugin (instrumentation outside the translation callback,
 * a feature that the host lacks, an index out of range) fails an assertion.
 */
#ifndef TESTS_HOST_DOUBLE_H
#define TESTS_HOST_DOUBLE_H

#include "qemu/host.h"

#include <glib.h>

enum {
    HOST_DOUBLE_VCPUS = 16,
    HOST_DOUBLE_INSNS = 64,  /* of a block */
    HOST_DOUBLE_HOOKS = 256, /* of a block */
};

enum host_double_kind {
    HOST_DOUBLE_EXEC,       /* a callback that reads no registers */
    HOST_DOUBLE_EXEC_REGS,  /* a callback that may read registers */
    HOST_DOUBLE_EXEC_NE,    /* a callback where the entry differs from the value */
    HOST_DOUBLE_ADD,        /* inline: adds the value to the vCPU's entry */
    HOST_DOUBLE_ADD_SHARED, /* inline: adds the value to a number of all vCPUs */
    HOST_DOUBLE_STORE,      /* inline: stores the value into the vCPU's entry */
    HOST_DOUBLE_MEMORY,     /* a callback at a memory access */
};

/* What the plugin registered; members that the kind does not use are 0. */
struct host_double_hook {
    enum host_double_kind kind;
    int insn; /* its index in the block; -1: the block as a whole */
    gt_host_exec_fn exec;
    gt_host_mem_fn memory;
    unsigned which; /* GT_MEM_LOADS, GT_MEM_STORES */
    void *data;
    struct gt_host_scoreboard_entry entry;
    uint64_t *shared;
    uint64_t value;
};

struct gt_host_insn {
    uint64_t pc;
    size_t size; /* bytes */
    uint8_t bytes[16];
    const char *text; /* disassembly; NULL: the host has none */
    void *host_addr;
};

/* The block is the test's memory; it stays where it is from its translation on. */
struct gt_host_block {
    uint64_t pc;
    size_t n_insns, n_hooks;
    struct gt_host_insn insns[HOST_DOUBLE_INSNS];
    struct host_double_hook hooks[HOST_DOUBLE_HOOKS];
};

struct host_double_access {
    uint64_t vaddr, value[2]; /* the value's low half first */
    unsigned size;            /* bytes, a power of two up to 16 */
    bool store, big_endian;
};

struct host_double_register {
    const char *name;
    uint8_t bytes[64]; /* as the guest has them in memory; those above are 0 */
    size_t size;       /* bytes; 0: it cannot be read */
};

struct host_double {
    struct gt_host_info info;
    unsigned features; /* bit N: enum gt_host_feature N */

    /* what the plugin subscribed to */
    const struct gt_host_events *events;
    void *self;
    void (*on_abnormal_exit)(int sig);

    /* what the plugin reported; each message ends with a newline */
    GString *messages, *log;

    /* what the plugin is told, by the test */
    enum gt_host_vcpus vcpus;
    const char *program;                    /* NULL: the host does not say */
    bool has_place;                         /* gt_host_mem_find knows where accesses go */
    struct gt_host_mem_target target;       /* of all accesses */
    uint64_t physical_offset;               /* physical minus virtual address of code */
    struct host_double_register *registers; /* the test's; a handle is an element's address */
    size_t n_registers;
    const uint8_t *memory; /* the test's: the guest's memory from memory_addr on */
    uint64_t memory_addr;
    size_t memory_size;      /* bytes */
    const uint8_t *physical; /* the test's: physical memory from 0 on */
    size_t physical_size;

    /* inside a callback */
    struct gt_host_block *translating;       /* NULL: not in the translation callback */
    const struct host_double_access *access; /* NULL: not in a memory callback */
    unsigned vcpu;

    GPtrArray *score;    /* areas of gt_host_scoreboard_new */
    GPtrArray *counters; /* shared sets of gt_host_counters_new */
};

extern struct host_double host_double;

/* A new host: `target` is QEMU's name; a machine of `vcpus` vCPUs, or (0) a program. `abi` chooses
 * the features of a QEMU of that plugin ABI: 1 is 7.2, 2 is 9.0, 4 is 10.0, 5 is 10.2, 7 is 11.1.
 */
void host_double_start(const char *target, unsigned vcpus, int abi);
/* Frees what the host has; score and shared counters are gone. */
void host_double_stop(void);
/* Calls gt_host_tool_install with the words "name=value" up to a NULL. Returns its status. The
 * words live as long as the plugin. */
int host_double_install(struct gt_error *err, const char *const *words);

/* Empties the block: it begins at pc, and has no instruction. */
void host_double_block(struct gt_host_block *b, uint64_t pc);
/* Appends an instruction of `size` bytes: its bytes are the low ones of pc, then 0. Returns it. */
struct gt_host_insn *host_double_insn(struct gt_host_block *b, size_t size, const char *text);
/* A block of n instructions of 4 bytes, "nop". */
void host_double_nops(struct gt_host_block *b, uint64_t pc, size_t n);

/* Forgets the block's hooks and has the plugin translate it. */
void host_double_translate(struct gt_host_block *b);
/* Runs the hooks of the block itself; those of instruction i; all of them in order. */
void host_double_enter(struct gt_host_block *b, unsigned vcpu);
void host_double_step(struct gt_host_block *b, unsigned vcpu, size_t i);
void host_double_run(struct gt_host_block *b, unsigned vcpu);
/* Instruction i accesses memory. */
void host_double_access(struct gt_host_block *b, unsigned vcpu, size_t i,
                        const struct host_double_access *access);

/* How many hooks of that kind the instruction (-1: the block) has; the first one, or NULL. */
size_t host_double_count(const struct gt_host_block *b, enum host_double_kind kind, int insn);
const struct host_double_hook *host_double_find(const struct gt_host_block *b,
                                                enum host_double_kind kind, int insn);

/* Moves all score to other addresses, as QEMU does when a vCPU comes that there is no room for. */
void host_double_move_scoreboard(void);

#endif
