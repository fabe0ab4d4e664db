/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exported functions of one version of the plugin ABI, declared from
 * docs/formats/qemu-plugin-abi.md and not from src/qemu: the two must agree by what the document
 * says. What a later version adds is under one condition each; version 7 gives every callback
 * userdata in place of the plugin's id.
 */
#include "host.h"

#include <assert.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* EXPORT(type, name, (parameters)) {body} */
#define EXPORT(type, name, parameters)                                                             \
    __attribute__((visibility("default"))) type qemu_plugin_##name parameters;                     \
    type qemu_plugin_##name parameters

#define ABI GT_SCRIPT_ABI

typedef void (*exec_cb)(unsigned vcpu, void *data);
typedef void (*mem_cb)(unsigned vcpu, uint32_t info, uint64_t addr, void *data);

uint64_t gt_plugin_id;

/* An event's function, as it was registered. */
struct event {
    void (*fn)(void);
    void *data;
};
static struct event on_init, on_vcpu_exit, on_translate, on_flush, on_exit_event, on_syscall,
    on_syscall_return, on_discontinuity;

static void subscribe(struct event *e, uint64_t id, void (*fn)(void), void *data)
{
    if (id != gt_plugin_id)
        gt_die("a callback registered with a foreign id");
    *e = (struct event){fn, data};
}

/* REGISTER(name, event): registration with and without userdata. TELL(event, types, values): calls
 * it in the family's shape. */
#if ABI >= 7
#define REGISTER(name, event)                                                                      \
    EXPORT(void, name, (uint64_t id, void (*cb)(void), void *data))                                \
    {                                                                                              \
        subscribe(&event, id, cb, data);                                                           \
    }
#define TYPES(...)            (__VA_ARGS__, void *)
#define VALUES(event, ...)    (__VA_ARGS__, event.data)
#define NOTHING_TYPES         (void *)
#define NOTHING_VALUES(event) (event.data)
#else
#define REGISTER(name, event)                                                                      \
    EXPORT(void, name, (uint64_t id, void (*cb)(void)))                                            \
    {                                                                                              \
        subscribe(&event, id, cb, NULL);                                                           \
    }
#define TYPES(...)            (uint64_t, __VA_ARGS__)
#define VALUES(event, ...)    (gt_plugin_id, __VA_ARGS__)
#define NOTHING_TYPES         (uint64_t)
#define NOTHING_VALUES(event) (gt_plugin_id)
#endif
#define TELL(event, types, values)                                                                 \
    if (event.fn)                                                                                  \
    ((void(*) types)event.fn) values

REGISTER(register_vcpu_init_cb, on_init)
REGISTER(register_vcpu_exit_cb, on_vcpu_exit)
REGISTER(register_vcpu_tb_trans_cb, on_translate)
REGISTER(register_flush_cb, on_flush)
REGISTER(register_vcpu_syscall_cb, on_syscall)
REGISTER(register_vcpu_syscall_ret_cb, on_syscall_return)

EXPORT(void, register_atexit_cb, (uint64_t id, void (*cb)(void), void *data))
{
    subscribe(&on_exit_event, id, cb, data);
}

/* Registers may be read there. */
void gt_tell_init(unsigned vcpu)
{
    gt_callback_flags = 1;
    TELL(on_init, TYPES(unsigned), VALUES(on_init, vcpu));
    gt_callback_flags = -1;
}

void gt_tell_vcpu_exit(unsigned vcpu)
{
    TELL(on_vcpu_exit, TYPES(unsigned), VALUES(on_vcpu_exit, vcpu));
}

void gt_tell_translate(struct tb *tb)
{
    gt_callback_flags = 1;
    TELL(on_translate, TYPES(struct tb *), VALUES(on_translate, tb));
    gt_callback_flags = -1;
}

void gt_tell_flush(void)
{
    TELL(on_flush, NOTHING_TYPES, NOTHING_VALUES(on_flush));
}

void gt_tell_exit(void)
{
#if ABI >= 7
    TELL(on_exit_event, (void *), (on_exit_event.data));
#else
    TELL(on_exit_event, (uint64_t, void *), (gt_plugin_id, on_exit_event.data));
#endif
}

void gt_tell_syscall(unsigned vcpu, const uint64_t a[9])
{
    TELL(on_syscall,
         TYPES(unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
               uint64_t, uint64_t),
         VALUES(on_syscall, vcpu, (int64_t)a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]));
}

void gt_tell_syscall_return(unsigned vcpu, int64_t number, int64_t result)
{
    TELL(on_syscall_return, TYPES(unsigned, int64_t, int64_t),
         VALUES(on_syscall_return, vcpu, number, result));
}

void gt_tell_discontinuity(unsigned vcpu, int kind, uint64_t from, uint64_t to)
{
    TELL(on_discontinuity, TYPES(unsigned, int, uint64_t, uint64_t),
         VALUES(on_discontinuity, vcpu, kind, from, to));
}

/* The block under translation. */

static struct tb *translated(const struct tb *tb)
{
    if (tb != gt_translating)
        gt_die("a block used outside its translation");
    return gt_translating;
}

static struct ops *ops_of(struct tb_insn *insn)
{
    translated(insn->tb);
    return &insn->ops;
}

EXPORT(size_t, tb_n_insns, (const struct tb *tb))
{
    return translated(tb)->n;
}

EXPORT(uint64_t, tb_vaddr, (const struct tb *tb))
{
    return translated(tb)->insns[0].insn->addr;
}

EXPORT(struct tb_insn *, tb_get_insn, (const struct tb *tb, size_t i))
{
    return i < translated(tb)->n ? &translated(tb)->insns[i] : NULL;
}

EXPORT(size_t, insn_size, (const struct tb_insn *insn))
{
    translated(insn->tb);
    return insn->insn->size;
}

EXPORT(uint64_t, insn_vaddr, (const struct tb_insn *insn))
{
    translated(insn->tb);
    return insn->insn->addr;
}

EXPORT(void *, insn_haddr, (const struct tb_insn *insn))
{
    translated(insn->tb);
    return gt_code_memory(insn->insn->addr);
}

EXPORT(char *, insn_disas, (const struct tb_insn *insn))
{
    translated(insn->tb);
    return g_strdup(insn->insn->disas);
}

#if ABI >= 3
EXPORT(size_t, insn_data, (const struct tb_insn *insn, void *dest, size_t n))
{
    translated(insn->tb);
    n = n < insn->insn->size ? n : insn->insn->size;
    memcpy(dest, gt_code_memory(insn->insn->addr), n);
    return n;
}
#else
EXPORT(const void *, insn_data, (const struct tb_insn *insn))
{
    translated(insn->tb);
    return gt_code_memory(insn->insn->addr);
}
#endif

EXPORT(void, register_vcpu_tb_exec_cb, (struct tb * tb, exec_cb fn, int flags, void *data))
{
    gt_add_op(&translated(tb)->ops,
              (struct op){OP_CALL, .fn = fn, .flags = flags, .data = data, .cond = COND_ALWAYS});
}

EXPORT(void, register_vcpu_insn_exec_cb, (struct tb_insn * insn, exec_cb fn, int flags, void *data))
{
    gt_add_op(ops_of(insn),
              (struct op){OP_CALL, .fn = fn, .flags = flags, .data = data, .cond = COND_ALWAYS});
}

EXPORT(void, register_vcpu_mem_cb,
       (struct tb_insn * insn, mem_cb fn, int flags, int rw, void *data))
{
    gt_add_op(ops_of(insn),
              (struct op){OP_MEMORY, .memory_fn = fn, .flags = flags, .rw = rw, .data = data});
}

EXPORT(bool, mem_is_store, (uint32_t info))
{
    return info & MEM_STORE_BIT;
}

EXPORT(bool, mem_is_big_endian, (uint32_t info))
{
    return info & MEM_BIG_BIT;
}

EXPORT(unsigned, mem_size_shift, (uint32_t info))
{
    return info & 7;
}

#ifndef GT_SCRIPT_BARE
EXPORT(void, outs, (const char *text))
{
    printf("log: %s", text);
}
#endif

EXPORT(char *, path_to_binary, (void))
{
    return gt_recorder_plan.system ? NULL : g_strdup("guest.elf");
}

EXPORT(uint64_t, entry_code, (void))
{
    return gt_recorder_plan.system || !gt_recorder_plan.n_insns ? 0
                                                                : gt_recorder_plan.insns[0].addr;
}

#if ABI == 1
EXPORT(int, n_vcpus, (void))
{
    return gt_recorder_plan.system ? (int)gt_recorder_plan.vcpus : -1;
}

EXPORT(int, n_max_vcpus, (void))
{
    return gt_recorder_plan.system ? (int)gt_recorder_plan.max_vcpus : -1;
}

EXPORT(void, register_vcpu_tb_exec_inline,
       (struct tb * tb, int op, uint64_t *counter, uint64_t value))
{
    assert(op == 0);
    gt_add_op(&translated(tb)->ops, (struct op){OP_ADD_SHARED, .shared = counter, .value = value});
}
#endif

#if ABI >= 2
struct u64_entry {
    struct score *score;
    size_t offset;
};

EXPORT(int, num_vcpus, (void))
{
    return (int)gt_recorder_plan.vcpus;
}

EXPORT(struct score *, scoreboard_new, (size_t size))
{
    return gt_score_new(size);
}

EXPORT(void *, scoreboard_find, (struct score * score, unsigned vcpu))
{
    return gt_score_find(score, vcpu);
}

static struct op inline_op(int op, struct u64_entry entry, uint64_t value)
{
    assert(op == 0 || op == 1);
    assert(entry.offset + 8 <= entry.score->element);
    return (struct op){op == 0 ? OP_ADD : OP_STORE, .score = entry.score, .offset = entry.offset,
                       .value = value};
}

EXPORT(void, register_vcpu_tb_exec_inline_per_vcpu,
       (struct tb * tb, int op, struct u64_entry entry, uint64_t value))
{
    gt_add_op(&translated(tb)->ops, inline_op(op, entry, value));
}

EXPORT(void, register_vcpu_insn_exec_inline_per_vcpu,
       (struct tb_insn * insn, int op, struct u64_entry entry, uint64_t value))
{
    gt_add_op(ops_of(insn), inline_op(op, entry, value));
}

static struct op conditional(exec_cb fn, int flags, int cond, struct u64_entry entry,
                             uint64_t value, void *data)
{
    struct op op = inline_op(0, entry, value);
    op.kind = OP_CALL;
    op.fn = fn;
    op.flags = flags;
    op.cond = cond;
    op.data = data;
    return op;
}

EXPORT(void, register_vcpu_tb_exec_cond_cb,
       (struct tb * tb, exec_cb fn, int flags, int cond, struct u64_entry entry, uint64_t value,
        void *data))
{
    gt_add_op(&translated(tb)->ops, conditional(fn, flags, cond, entry, value, data));
}

EXPORT(void, register_vcpu_insn_exec_cond_cb,
       (struct tb_insn * insn, exec_cb fn, int flags, int cond, struct u64_entry entry,
        uint64_t value, void *data))
{
    gt_add_op(ops_of(insn), conditional(fn, flags, cond, entry, value, data));
}
#endif

#if ABI >= 5
REGISTER(write_register, on_discontinuity) /* only to be there */

EXPORT(void, register_vcpu_discon_cb,
       (uint64_t id, int kinds, void (*cb)(void)
#if ABI >= 7
                                    ,
        void *data
#endif
        ))
{
    assert(kinds != 0);
#if ABI >= 7
    subscribe(&on_discontinuity, id, cb, data);
#else
    subscribe(&on_discontinuity, id, cb, NULL);
#endif
}
#endif

#if ABI >= 6
EXPORT(void, set_pc, (uint64_t pc))
{
    gt_die("set_pc(%llx)", (unsigned long long)pc);
}
#endif
