/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's plugin ABI that this project uses: our own declarations of the functions that
 * a host exports, from the facts in docs/formats/qemu-plugin-abi.md. If families have different
 * signatures for a symbol, each has a member of its own type for it.
 */
#ifndef GT_QEMU_ABI_H
#define GT_QEMU_ABI_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_id;

struct qemu_info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

/* Passed by value, as the host expects it. */
struct qemu_u64 {
    void *scoreboard;
    size_t offset;
};

/* An element of the array of get_registers. Later families append members, so step by the array's
 * element size. */
struct qemu_register {
    void *handle;
    const char *name;
    const char *feature;
};

/* The value of a memory access. `type` is its width: 0 for 8 bits, 1 for 16 bits, up to 4 for 128
 * bits. */
struct qemu_mem_value {
    int type;
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        struct {
            uint64_t low, high;
        } u128;
    } data;
};

enum { QEMU_CB_NO_REGS = 0, QEMU_CB_R_REGS = 1 };
enum { QEMU_INLINE_ADD = 0, QEMU_INLINE_STORE = 1 };
enum { QEMU_COND_NE = 3 };

typedef void (*qemu_exec_cb)(unsigned vcpu, void *data);
typedef void (*qemu_mem_cb)(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data);

/* The symbols, one member each: REQUIRED(name, type) or OPTIONAL(name, type). A member is NULL if
 * the host lacks the symbol. */
#define QEMU_ABI_FUNCTIONS(REQUIRED, OPTIONAL)                                                     \
    REQUIRED(tb_n_insns, size_t (*)(const void *tb))                                               \
    REQUIRED(tb_vaddr, uint64_t (*)(const void *tb))                                               \
    REQUIRED(tb_get_insn, void *(*)(const void *tb, size_t i))                                     \
    REQUIRED(insn_size, size_t (*)(const void *insn))                                              \
    REQUIRED(insn_vaddr, uint64_t (*)(const void *insn))                                           \
    REQUIRED(insn_haddr, void *(*)(const void *insn))                                              \
    REQUIRED(insn_data, void (*)(void))                                                            \
    REQUIRED(mem_is_store, bool (*)(uint32_t meminfo))                                             \
    OPTIONAL(mem_size_shift, unsigned (*)(uint32_t meminfo))                                       \
    OPTIONAL(mem_is_big_endian, bool (*)(uint32_t meminfo))                                        \
    OPTIONAL(get_hwaddr, void *(*)(uint32_t meminfo, uint64_t vaddr))                              \
    OPTIONAL(hwaddr_is_io, bool (*)(const void *hwaddr))                                           \
    OPTIONAL(hwaddr_phys_addr, uint64_t (*)(const void *hwaddr))                                   \
    OPTIONAL(hwaddr_device_name, const char *(*)(const void *hwaddr))                              \
    OPTIONAL(insn_disas, char *(*)(const void *insn))                                              \
    OPTIONAL(translate_vaddr, bool (*)(uint64_t vaddr, uint64_t * hwaddr))                         \
    OPTIONAL(register_vcpu_idle_cb, void (*)(qemu_id id, void *cb, void *data))                    \
    REQUIRED(outs, void (*)(const char *text))                                                     \
    REQUIRED(register_vcpu_tb_exec_cb, void (*)(void *tb, qemu_exec_cb cb, int flags, void *data)) \
    REQUIRED(register_vcpu_insn_exec_cb,                                                           \
             void (*)(void *insn, qemu_exec_cb cb, int flags, void *data))                         \
    REQUIRED(register_vcpu_mem_cb,                                                                 \
             void (*)(void *insn, qemu_mem_cb cb, int flags, int rw, void *data))                  \
    REQUIRED(register_atexit_cb, void (*)(qemu_id id, void *cb, void *data))                       \
    REQUIRED(register_vcpu_tb_trans_cb, void (*)(qemu_id id, void *cb, void *data))                \
    REQUIRED(register_vcpu_init_cb, void (*)(qemu_id id, void *cb, void *data))                    \
    REQUIRED(register_vcpu_exit_cb, void (*)(qemu_id id, void *cb, void *data))                    \
    REQUIRED(register_flush_cb, void (*)(qemu_id id, void *cb, void *data))                        \
    OPTIONAL(register_vcpu_syscall_cb, void (*)(qemu_id id, void *cb, void *data))                 \
    OPTIONAL(register_vcpu_syscall_ret_cb, void (*)(qemu_id id, void *cb, void *data))             \
    OPTIONAL(register_vcpu_discon_cb, void (*)(qemu_id id, int kinds, void *cb, void *data))       \
    OPTIONAL(reset, void (*)(qemu_id id, void (*cb)(qemu_id id)))                                  \
    OPTIONAL(path_to_binary, char *(*)(void))                                                      \
    OPTIONAL(n_vcpus, int (*)(void))                                                               \
    OPTIONAL(num_vcpus, int (*)(void))                                                             \
    OPTIONAL(register_vcpu_tb_exec_inline,                                                         \
             void (*)(void *tb, int op, void *counter, uint64_t value))                            \
    OPTIONAL(register_vcpu_tb_exec_inline_per_vcpu,                                                \
             void (*)(void *tb, int op, struct qemu_u64 entry, uint64_t value))                    \
    OPTIONAL(register_vcpu_insn_exec_inline_per_vcpu,                                              \
             void (*)(void *insn, int op, struct qemu_u64 entry, uint64_t value))                  \
    OPTIONAL(register_vcpu_tb_exec_cond_cb,                                                        \
             void (*)(void *tb, qemu_exec_cb cb, int flags, int cond, struct qemu_u64 entry,       \
                      uint64_t value, void *data))                                                 \
    OPTIONAL(register_vcpu_insn_exec_cond_cb,                                                      \
             void (*)(void *insn, qemu_exec_cb cb, int flags, int cond, struct qemu_u64 entry,     \
                      uint64_t value, void *data))                                                 \
    OPTIONAL(scoreboard_new, void *(*)(size_t size))                                               \
    OPTIONAL(scoreboard_find, void *(*)(void *scoreboard, unsigned vcpu))                          \
    OPTIONAL(get_registers, GArray *(*)(void))                                                     \
    OPTIONAL(read_register, int (*)(void *handle, GByteArray *out))                                \
    OPTIONAL(read_memory_vaddr, bool (*)(uint64_t addr, GByteArray * out, size_t n))               \
    OPTIONAL(read_memory_hwaddr, int (*)(uint64_t addr, GByteArray * out, size_t n))               \
    OPTIONAL(mem_get_value, struct qemu_mem_value (*)(uint32_t meminfo))                           \
    OPTIONAL(write_register, void (*)(void))                                                       \
    OPTIONAL(set_pc, void (*)(void))

#define QEMU_ABI_MEMBER(name, type) __typeof__(type) name;
struct qemu_abi {
    QEMU_ABI_FUNCTIONS(QEMU_ABI_MEMBER, QEMU_ABI_MEMBER)
};

enum qemu_family {
    QEMU_FAMILY_1, /* versions 0..1 */
    QEMU_FAMILY_2, /* versions 2..6 */
    QEMU_FAMILY_7, /* version 7: callbacks take userdata in place of the id */
};

extern struct qemu_abi gt_qemu;
extern enum qemu_family gt_qemu_family;

/* insn_data copies the bytes (version 3 of the host) instead of returning a pointer. */
extern bool gt_qemu_data_copies;

/* The version the host reads before it calls install. */
extern int qemu_plugin_version;

/* NULL, or the name of the first required function that the host lacks. Set by the constructor. */
extern const char *gt_qemu_missing;

#endif
