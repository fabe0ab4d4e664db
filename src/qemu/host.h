/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulator we are loaded into, as a tool sees it: one interface over QEMU's three incompatible
 * families of plugin ABI (docs/formats/qemu-plugin-abi.md), with every function of the host looked
 * up at load. A tool asks for what it needs by name (gt_host_can), never for a version.
 *
 * All functions may be called from any callback; instrumenting (gt_block_*, gt_insn_*) only inside
 * the translation callback, for the block that it was given.
 */
#ifndef GT_QEMU_HOST_H
#define GT_QEMU_HOST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_host_feature {
    GT_HOST_CELLS,         /* per-vCPU cells with inline add and store */
    GT_HOST_CONDITIONAL,   /* callbacks that fire only where a cell has (not) a value */
    GT_HOST_REGISTERS,     /* guest registers can be read */
    GT_HOST_MEMORY,        /* guest memory can be read by virtual address */
    GT_HOST_MEMORY_VALUES, /* a memory callback sees the value */
    GT_HOST_DISCONTINUITY, /* interrupts and exceptions are reported */
    GT_HOST_SYSCALLS,      /* system calls are reported (user mode) */
    GT_HOST_PHYSICAL,      /* virtual addresses of code can be translated (machines) */
};

struct gt_host_info {
    const char *target; /* QEMU's target name, "aarch64"; lives as long as the host */
    bool system;        /* a machine, not a process */
    unsigned vcpus;     /* system: vCPUs at start; user: 0 */
    unsigned max_vcpus; /* system: at most; user: 0 */
    int abi;            /* plugin ABI version that was agreed on, for messages */
};

/* Opaque: the block being translated, and its instructions. */
struct gt_block;
struct gt_insn_ref;

/* One u64 in each vCPU's cell area. */
struct gt_cell {
    void *score;
    size_t offset;
};

typedef void (*gt_exec_fn)(unsigned vcpu, void *data);
typedef void (*gt_mem_fn)(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data);

/* What a tool wants to hear; all but translate and exit may be NULL. `self` is the tool's own. */
struct gt_host_events {
    void (*vcpu_init)(void *self, unsigned vcpu);
    void (*vcpu_exit)(void *self, unsigned vcpu);
    void (*vcpu_idle)(void *self, unsigned vcpu); /* it waits: for an interrupt, or to be let run */
    void (*translate)(void *self, struct gt_block *block);
    void (*flush)(void *self); /* all translated code is gone; no vCPU runs */
    void (*syscall)(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
    void (*syscall_return)(void *self, unsigned vcpu, int64_t number, int64_t result);
    void (*discontinuity)(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to);
    void (*exit)(void *self); /* the guest is done; the last call */
};

enum gt_discontinuity {
    GT_DISCON_INTERRUPT = 1,
    GT_DISCON_EXCEPTION = 2,
    GT_DISCON_HOSTCALL = 4,
};

/* A tool's entry: defined once in each plugin. argv are QEMU's `name=value` words. 0, or an error
 * that refuses the load. */
int gt_tool_install(const struct gt_host_info *info, int argc, char **argv, struct gt_error *err);
/* "uftrace": before each message. Defined once in each plugin. */
extern const char gt_tool_name[];

/* Subscribes; once, from gt_tool_install. The table and self live as long as the host. */
void gt_host_subscribe(const struct gt_host_events *events, void *self);

bool gt_host_can(enum gt_host_feature feature);

/* Called once where QEMU ends itself without the exit event: a program's fatal signal, abort().
 * Where the host cannot be watched for that, never. */
void gt_host_before_death(void (*fn)(void));

/* Writes text to QEMU's plugin log (`-d plugin`). */
void gt_host_log(const char *text);
/* One line on standard error, "guesttrace-<tool>: text\n", in one write; dropped where standard
 * error is not the file that it was at load (the guest may have closed it and opened another). */
void gt_host_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* User mode: the guest's program as QEMU was given it (free with g_free), and its entry address.
 * NULL and 0 where the host does not say. */
char *gt_host_program(void);
/* The same by QEMU's command line, words of which each ends with a NUL; NULL: it names none. */
const char *gt_host_program_in(const char *words, size_t size);
uint64_t gt_host_entry(void);

/* Cells: `size` bytes for each vCPU, zeroed. Needs GT_HOST_CELLS. */
void *gt_cells_new(size_t size);
/* This vCPU's area. It moves when a vCPU comes that there was no room for, just before vcpu_init of
 * that one: find it again in each callback, unless no more can come. */
void *gt_cells_find(void *score, unsigned vcpu);

/* `n` counters, zeroed: of each vCPU where the host has cells, else one set that all vCPUs add to
 * without synchronisation, and that never moves. It lives as long as the host. */
void *gt_counters_new(size_t n);
/* How many sets so many vCPUs have; which one of them this vCPU's is. */
unsigned gt_counters_sets(unsigned vcpus);
unsigned gt_counters_set_of(unsigned vcpu);
/* The vCPU's; it moves as cells do. */
uint64_t *gt_counters_find(void *set, unsigned vcpu);

/* The block. */
size_t gt_block_insns(const struct gt_block *b);
uint64_t gt_block_pc(const struct gt_block *b);
struct gt_insn_ref *gt_block_insn(const struct gt_block *b, size_t i);
void gt_block_on_exec(struct gt_block *b, gt_exec_fn fn, void *data);
/* The callback may read registers, where the host can do that at all. */
void gt_block_on_exec_regs(struct gt_block *b, gt_exec_fn fn, void *data);
/* Fires where the cell differs from `value`. Needs GT_HOST_CONDITIONAL. The callback may read
 * registers. */
void gt_block_on_exec_ne(struct gt_block *b, gt_exec_fn fn, struct gt_cell cell, uint64_t value,
                         void *data);
void gt_block_add(struct gt_block *b, struct gt_cell cell, uint64_t value);
/* One counter shared by all vCPUs, added to without synchronisation (families without cells). */
bool gt_block_add_shared(struct gt_block *b, uint64_t *counter, uint64_t value);
/* Adds to counter i of a set of gt_counters_new. */
void gt_block_count(struct gt_block *b, void *set, size_t i, uint64_t value);

/* Its instructions. All of these run before the instruction does. */
uint64_t gt_insn_pc(const struct gt_insn_ref *insn);
size_t gt_insn_size(const struct gt_insn_ref *insn);
/* The host address of its bytes, or NULL (device memory). User mode: minus pc is guest_base. */
void *gt_insn_host_addr(const struct gt_insn_ref *insn);
/* Its disassembly, without the address; free with g_free. NULL where the host has none. */
char *gt_insn_text(const struct gt_insn_ref *insn);
/* Copies at most n of its bytes; returns how many. */
size_t gt_insn_bytes(const struct gt_insn_ref *insn, uint8_t *out, size_t n);
void gt_insn_store(struct gt_insn_ref *insn, struct gt_cell cell, uint64_t value);
void gt_insn_on_exec(struct gt_insn_ref *insn, gt_exec_fn fn, void *data);
/* The same; the callback may read registers, where the host can do that at all. */
void gt_insn_on_exec_regs(struct gt_insn_ref *insn, gt_exec_fn fn, void *data);
void gt_insn_on_exec_ne(struct gt_insn_ref *insn, gt_exec_fn fn, struct gt_cell cell,
                        uint64_t value, void *data);
/* Old hosts report loads and stores alike, whichever were asked for: fn asks gt_mem_is_store. */
enum { GT_MEM_LOADS = 1, GT_MEM_STORES = 2 };
void gt_insn_on_memory(struct gt_insn_ref *insn, gt_mem_fn fn, unsigned which, void *data);

/* In a memory callback. */
bool gt_mem_is_store(uint32_t meminfo);
unsigned gt_mem_size(uint32_t meminfo); /* bytes */
/* Of this access: a guest may have data of either order. */
bool gt_mem_is_big_endian(uint32_t meminfo);
/* The value loaded or stored, low half first. Needs GT_HOST_MEMORY_VALUES. */
void gt_mem_value(uint32_t meminfo, uint64_t value[2]);
/* Where the access went. */
struct gt_mem_place {
    uint64_t physical;
    bool device;
    const char *name; /* of the memory region of a device; else NULL */
};
/* False in user mode, and where the host does not know. */
bool gt_mem_find(uint32_t meminfo, uint64_t vaddr, struct gt_mem_place *out);

/* A register of all vCPUs, found by its name at the first use; zeroed before that. Several vCPUs
 * may use it at once, always with the same name. */
struct gt_register {
    size_t found;
    void *handle; /* the host's */
    bool exists;
};
/* Inside a callback of the vCPU. The name's case matters not; without GT_HOST_REGISTERS, and of the
 * name NULL, there is none. read: the low 8 bytes, little-endian; false where it cannot be read. */
bool gt_register_exists(struct gt_register *r, const char *name);
bool gt_register_read(struct gt_register *r, const char *name, uint64_t *value);
/* The core registers, in the host's order: the name of number i, and its bytes as a number, at most
 * 8; NULL and false from the last one on. */
const char *gt_register_name(size_t i);
bool gt_register_value(size_t i, uint64_t *value);
/* All registers, in the host's order. A handle is good for all vCPUs of the calling one's kind, and
 * lives as long as they do; it may be NULL. */
void gt_registers_each(void (*fn)(void *self, const char *name, void *handle), void *self);
/* The register's bytes, as the guest has them in memory, at most n of them; returns how many it
 * has. 0: it cannot be read. */
size_t gt_register_bytes(void *handle, uint8_t *out, size_t n);
/* The physical address of code, by the calling vCPU's virtual address. Needs GT_HOST_PHYSICAL. */
bool gt_physical(uint64_t vaddr, uint64_t *physical);
/* Guest memory, by the calling vCPU's virtual address. Needs GT_HOST_MEMORY. */
bool gt_memory_read(uint64_t addr, void *out, size_t n);
/* The same for a little-endian number of n bytes, 8 at most. */
bool gt_memory_number(uint64_t addr, size_t n, uint64_t *out);

#endif
