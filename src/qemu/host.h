/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU as a tool sees it: one interface over QEMU's three incompatible families of plugin ABI
 * (docs/formats/qemu-plugin-abi.md). Every function of the host is looked up at load. A tool checks
 * for a feature by name (gt_host_can), never for a version.
 *
 * All functions may be called from any callback; the instrumenting ones (gt_host_block_*,
 * gt_host_insn_*) only in the translation callback, for its block.
 */
#ifndef GT_QEMU_HOST_H
#define GT_QEMU_HOST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_host_feature {
    GT_HOST_SCOREBOARD,      /* scoreboards, with inline add and store */
    GT_HOST_CONDITIONAL,     /* callbacks that fire only if an entry differs from a value */
    GT_HOST_REGISTERS,       /* guest registers can be read */
    GT_HOST_MEMORY,          /* guest memory can be read by virtual address */
    GT_HOST_MEMORY_VALUES,   /* a memory callback can read the value */
    GT_HOST_MEMORY_AT_EXIT,  /* an instruction that ends its block can have memory callbacks; else
                              * they may run for later instructions, and their memory may be free
                              * then: after gt_host_start_again, or where QEMU discards code */
    GT_HOST_DISCONTINUITY,   /* interrupts and exceptions are reported */
    GT_HOST_SYSCALLS,        /* system calls are reported (user mode) */
    GT_HOST_DEVICES,         /* gt_host_mem_find knows which accesses are a device's (machines) */
    GT_HOST_PHYSICAL,        /* virtual addresses of code can be translated (machines) */
    GT_HOST_START_AGAIN,     /* gt_host_start_again: the plugin was loaded with `keep=events` alone
                              * before, by another path; or a machine has one vCPU */
    GT_HOST_PHYSICAL_MEMORY, /* memory can be read by physical address (machines) */
    GT_HOST_RUN_STATE,       /* machines: the host says when the machine stops and runs again */
    GT_HOST_SHUTDOWN,        /* machines: the host says when its end begins */
};

struct gt_host_info {
    const char *target; /* QEMU's target name, "aarch64"; lives as long as the host */
    bool system;        /* true: a machine; false: a process */
    unsigned vcpus;     /* system: vCPUs at start; user: 0 */
    unsigned max_vcpus; /* system: vCPUs at most; user: 0 */
    int abi;            /* the plugin ABI version in use, for messages */
};

/* Opaque: the block being translated, and its instructions. */
struct gt_host_block;
struct gt_host_insn;

/* A u64 in each vCPU's part of a scoreboard. */
struct gt_host_scoreboard_entry {
    void *scoreboard;
    size_t offset;
};

typedef void (*gt_host_exec_fn)(unsigned vcpu, void *data);
typedef void (*gt_host_mem_fn)(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data);

enum gt_qemu_run_state {
    GT_MACHINE_RUNS,     /* vCPUs are about to run */
    GT_MACHINE_STOPS,    /* its state may be saved, or another one loaded */
    GT_MACHINE_LOADS,    /* it stops for another one to be loaded */
    GT_MACHINE_DEBUGGED, /* it stops for a debugger */
};

/* A tool's event callbacks; all except translate and exit may be NULL. `self` is the tool's
 * pointer. */
struct gt_host_events {
    void (*vcpu_init)(void *self, unsigned vcpu);
    void (*vcpu_exit)(void *self, unsigned vcpu);
    void (*vcpu_idle)(void *self,
                      unsigned vcpu); /* the vCPU waits for an interrupt, or until it may run */
    void (*translate)(void *self, struct gt_host_block *block);
    void (*flush)(void *self); /* all translated code was discarded; no vCPU runs */
    void (*syscall)(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
    void (*syscall_return)(void *self, unsigned vcpu, int64_t number, int64_t result);
    void (*discontinuity)(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to);
    /* Machines: on the host's main thread, while no vCPU runs code; `clock`: the guest's, in ns,
     * which stands while it is stopped. Needs GT_HOST_RUN_STATE. */
    void (*run_state)(void *self, enum gt_qemu_run_state state, uint64_t clock);
    /* Machines: on the host's main thread, which waits for all vCPUs next. An end by exit() has
     * none. Needs GT_HOST_SHUTDOWN. */
    void (*shutdown)(void *self);
    void (*exit)(void *self); /* the guest has ended; the last callback */
};

enum gt_host_discontinuity {
    GT_DISCON_INTERRUPT = 1,
    GT_DISCON_EXCEPTION = 2,
    GT_DISCON_HOSTCALL = 4,
};

/* A tool's entry point, defined once in each plugin. argv has QEMU's `name=value` words. Returns 0,
 * or an error, which makes QEMU refuse the plugin. */
int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err);
/* "uftrace": the prefix of each message. Defined once in each plugin. */
extern const char gt_host_tool_name[];

/* Subscribes to events; call it once, in gt_host_tool_install, or in `then`. The table and self
 * must live as long as the host. */
void gt_host_subscribe(const struct gt_host_events *events, void *self);
/* On a vCPU's thread, in a callback: before any vCPU runs code again, all translated code is
 * discarded, none of code is subscribed to, and then(self) is called on that thread. Other threads
 * may be in a callback of a system call, of a vCPU that waits or that ends, or come to one of the
 * former table's. */
void gt_host_start_again(void (*then)(void *self));

/* User mode, in the event of the system call that ends the program with all its threads, before
 * anything is done there: other threads come no further than to the next event of their system
 * calls from now on, and those that were on their way there are waited for. It does not return
 * where another thread was first. */
void gt_host_program_ends(void);

bool gt_host_can(enum gt_host_feature feature);

/* Sets a function that is called once if QEMU ends itself by a signal: a program's fatal one, which
 * comes in place of the exit event or (QEMU 8 and later) after it, on the thread that it has hit;
 * or by abort(): sig 0. False: the host cannot be watched for signals, it is never called. */
bool gt_host_on_abnormal_exit(void (*fn)(int sig));

/* Writes text to QEMU's plugin log (`-d plugin`). */
void gt_host_log(const char *text);
/* One line on standard error, "guesttrace-<tool>: text\n", in one write; dropped if standard error
 * is not the file that it was at load (the guest may have closed it and opened another). */
void gt_host_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Several vCPUs on one host thread (-icount, -accel tcg,thread=single): QEMU 9 and later build the
 * number of the vCPU that a block was translated for into its callbacks, whichever vCPU runs it.
 * Called in vcpu_init. Where QEMU does not distinguish the vCPUs inline stores to a scoreboard must
 * not be used: QEMU 11.1 multiplies the vCPU's number again with each store of a block, and writes
 * out of bounds. */
enum gt_host_vcpus {
    GT_VCPUS_RIGHT,
    GT_VCPUS_CORRECTED, /* callbacks that are registered from now on have the right vCPU; no
                         * scoreboard, and no conditional callback, may be used */
    GT_VCPUS_WRONG,     /* QEMU does not say which one runs, or blocks were instrumented before; the
                         * first time that is printed, with `wrong`, its consequence */
};
enum gt_host_vcpus gt_host_vcpus_correct(const struct gt_host_info *host, unsigned vcpu,
                                         const char *wrong);

/* "DEVICE:FILE" of the standard error that messages are for (free with g_free); NULL: none. In this
 * variable of the environment it is that of another QEMU, which executes this one for its guest. */
#define GT_HOST_MESSAGES_VARIABLE "GUESTTRACE_MESSAGES_TO"
char *gt_host_messages_to(void);

/* "PID:N:CHILD" in this variable: process PID, the first one or (CHILD is 1) a child, has executed
 * its N-th program under a recording QEMU, and this is the QEMU that runs it. Returns N; 0: it is
 * not, or this is a forked process of that. `child` may be NULL. */
#define GT_HOST_EXECUTED_VARIABLE "GUESTTRACE_EXECUTED"
unsigned gt_host_executed(bool *child);
/* Executes this QEMU again, without the plugin; returns where that is not possible. */
void gt_host_run_without_plugin(void);

/* User mode: the path of the guest's program on QEMU's command line (free with g_free). NULL:
 * unknown. */
char *gt_host_program(void);
/* Machines: the command line says that a saved state is loaded before the machine runs. */
bool gt_host_loads_state(void);
/* In a run_state event: a number of where all vCPUs are: program counters, stack pointers and the
 * words on the stacks. 0: unknown. */
uint64_t gt_host_place(void);
/* Whether an option of a user-mode QEMU has its value in the next word. */
bool gt_host_option_takes_value(const char *option);
/* The program in QEMU's command line, whose words each end with a NUL; NULL: it names none. */
const char *gt_host_program_in(const char *words, size_t size);

/* Allocates a scoreboard: `size` zeroed bytes for each vCPU. Needs GT_HOST_SCOREBOARD. */
void *gt_host_scoreboard_new(size_t size);
/* Returns this vCPU's area. It moves when a new vCPU needs more room, just before the new one's
 * vcpu_init: call this in each callback, unless no vCPU can be added. */
void *gt_host_scoreboard_find(void *scoreboard, unsigned vcpu);

/* Allocates `n` zeroed counters: a set for each vCPU if the host has scoreboards, else one set that
 * all vCPUs add to without synchronisation, and that never moves. They live as long as the host. */
void *gt_host_counters_new(size_t n);
/* The number of sets for `vcpus` vCPUs; the index of this vCPU's set. */
unsigned gt_host_counters_sets(unsigned vcpus);
unsigned gt_host_counters_set_of(unsigned vcpu);
/* Returns this vCPU's counters; they move as a scoreboard does. */
uint64_t *gt_host_counters_find(void *set, unsigned vcpu);

/* The block. */
size_t gt_host_block_insns(const struct gt_host_block *b);
uint64_t gt_host_block_pc(const struct gt_host_block *b);
struct gt_host_insn *gt_host_block_insn(const struct gt_host_block *b, size_t i);
void gt_host_block_on_exec(struct gt_host_block *b, gt_host_exec_fn fn, void *data);
/* The callback may read registers, if the host supports that. */
void gt_host_block_on_exec_regs(struct gt_host_block *b, gt_host_exec_fn fn, void *data);
/* The callback fires if the entry differs from `value`. Needs GT_HOST_CONDITIONAL. The callback may
 * read registers. */
void gt_host_block_on_exec_ne(struct gt_host_block *b, gt_host_exec_fn fn,
                              struct gt_host_scoreboard_entry entry, uint64_t value, void *data);
void gt_host_block_add(struct gt_host_block *b, struct gt_host_scoreboard_entry entry,
                       uint64_t value);
/* Adds to one counter of all vCPUs, without synchronisation (families without scoreboards). False:
 * not supported. */
bool gt_host_block_add_shared(struct gt_host_block *b, uint64_t *counter, uint64_t value);
/* Adds to counter i of a set of gt_host_counters_new. */
void gt_host_block_count(struct gt_host_block *b, void *set, size_t i, uint64_t value);

/* The block's instructions. All instrumentation runs before the instruction. */
uint64_t gt_host_insn_pc(const struct gt_host_insn *insn);
size_t gt_host_insn_size(const struct gt_host_insn *insn);
/* The host address of its bytes, or NULL (device memory). In user mode this minus pc is guest_base.
 *
 */
void *gt_host_insn_host_addr(const struct gt_host_insn *insn);
/* Its disassembly, without the address; free with g_free. NULL: the host has none. */
char *gt_host_insn_text(const struct gt_host_insn *insn);
/* Copies at most n of its bytes; returns how many. */
size_t gt_host_insn_bytes(const struct gt_host_insn *insn, uint8_t *out, size_t n);
void gt_host_insn_store(struct gt_host_insn *insn, struct gt_host_scoreboard_entry entry,
                        uint64_t value);
void gt_host_insn_on_exec(struct gt_host_insn *insn, gt_host_exec_fn fn, void *data);
/* The same; the callback may read registers, if the host supports that. */
void gt_host_insn_on_exec_regs(struct gt_host_insn *insn, gt_host_exec_fn fn, void *data);
void gt_host_insn_on_exec_ne(struct gt_host_insn *insn, gt_host_exec_fn fn,
                             struct gt_host_scoreboard_entry entry, uint64_t value, void *data);
/* Old hosts report both loads and stores, whatever `which` is: fn must check
 * gt_host_mem_is_store. */
enum { GT_MEM_LOADS = 1, GT_MEM_STORES = 2 };
void gt_host_insn_on_memory(struct gt_host_insn *insn, gt_host_mem_fn fn, unsigned which,
                            void *data);

/* Only in a memory callback. */
bool gt_host_mem_is_store(uint32_t meminfo);
unsigned gt_host_mem_size(uint32_t meminfo); /* bytes */
/* The byte order of this access: a guest may use both. */
bool gt_host_mem_is_big_endian(uint32_t meminfo);
/* The value loaded or stored, low half first. Needs GT_HOST_MEMORY_VALUES. */
void gt_host_mem_value(uint32_t meminfo, uint64_t value[2]);
/* The target of an access. */
struct gt_host_mem_target {
    uint64_t physical;
    bool device;
    const char *name; /* name of a device's memory region; else NULL */
};
/* Finds the target of an access. False in user mode, and if the host cannot determine it. */
bool gt_host_mem_find(uint32_t meminfo, uint64_t vaddr, struct gt_host_mem_target *out);

/* A register of all vCPUs, looked up by name at the first use; zero it before. Several vCPUs may
 * use it at the same time, always with the same name. */
struct gt_host_register {
    size_t found;
    void *handle; /* the host's handle */
    bool exists;
};
/* Only in a callback of the vCPU. The name's case is ignored; without GT_HOST_REGISTERS, and for
 * the name NULL, no register exists. gt_host_register_read reads the low 8 bytes, little-endian;
 * false: it cannot be read. */
bool gt_host_register_exists(struct gt_host_register *r, const char *name);
bool gt_host_register_read(struct gt_host_register *r, const char *name, uint64_t *value);
/* The core registers, in the host's order: the name of register i, and its value, at most 8 bytes;
 * NULL and false after the last one. */
const char *gt_host_register_name(size_t i);
bool gt_host_register_value(size_t i, uint64_t *value);
/* Calls fn for all registers, in the host's order. A handle is valid for all vCPUs of the calling
 * one's type, as long as they exist; it may be NULL. */
void gt_host_registers_each(void (*fn)(void *self, const char *name, void *handle), void *self);
/* Copies at most n bytes of the register, in the guest's byte order; returns its size. 0: it cannot
 * be read. */
size_t gt_host_register_bytes(void *handle, uint8_t *out, size_t n);
/* Translates the calling vCPU's virtual address of code to a physical address. Needs
 * GT_HOST_PHYSICAL. */
bool gt_host_physical(uint64_t vaddr, uint64_t *physical);
/* Reads guest memory at the calling vCPU's virtual address. Needs GT_HOST_MEMORY. */
bool gt_host_memory_read(uint64_t addr, void *out, size_t n);
/* By physical address, in memory's address space of the calling vCPU. Needs
 * GT_HOST_PHYSICAL_MEMORY.
 */
bool gt_host_memory_read_physical(uint64_t addr, void *out, size_t n);
/* Reads a little-endian number of n bytes, at most 8. */
bool gt_host_memory_number(uint64_t addr, size_t n, uint64_t *out);

#endif
