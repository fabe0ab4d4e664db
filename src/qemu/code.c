/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h over QEMU: the block being translated, and its instrumentation. */
#include "qemu/abi.h"
#include "qemu/current.h"
#include "qemu/host.h"

#include <string.h>

static struct qemu_u64 entry_of(struct gt_host_scoreboard_entry entry)
{
    return (struct qemu_u64){.scoreboard = entry.scoreboard, .offset = entry.offset};
}

size_t gt_host_block_insns(const struct gt_host_block *b)
{
    return gt_qemu.tb_n_insns(b);
}

uint64_t gt_host_block_pc(const struct gt_host_block *b)
{
    return gt_qemu.tb_vaddr(b);
}

struct gt_host_insn *gt_host_block_insn(const struct gt_host_block *b, size_t i)
{
    return gt_qemu.tb_get_insn(b, i);
}

static void on_block(struct gt_host_block *b, gt_host_exec_fn fn, int flags, void *data)
{
    if (gt_qemu_current_is_corrected())
        gt_qemu.register_vcpu_tb_exec_cb(b, gt_qemu_current_on_exec, flags,
                                         gt_qemu_current_target((void *)fn, data));
    else
        gt_qemu.register_vcpu_tb_exec_cb(b, fn, flags, data);
}

void gt_host_block_on_exec(struct gt_host_block *b, gt_host_exec_fn fn, void *data)
{
    on_block(b, fn, QEMU_CB_NO_REGS, data);
}

void gt_host_block_on_exec_regs(struct gt_host_block *b, gt_host_exec_fn fn, void *data)
{
    on_block(b, fn, QEMU_CB_R_REGS, data);
}

void gt_host_block_on_exec_ne(struct gt_host_block *b, gt_host_exec_fn fn,
                              struct gt_host_scoreboard_entry entry, uint64_t value, void *data)
{
    gt_qemu.register_vcpu_tb_exec_cond_cb(b, fn, QEMU_CB_R_REGS, QEMU_COND_NE, entry_of(entry),
                                          value, data);
}

void gt_host_block_add(struct gt_host_block *b, struct gt_host_scoreboard_entry entry,
                       uint64_t value)
{
    gt_qemu.register_vcpu_tb_exec_inline_per_vcpu(b, QEMU_INLINE_ADD, entry_of(entry), value);
}

bool gt_host_block_add_shared(struct gt_host_block *b, uint64_t *counter, uint64_t value)
{
    if (gt_qemu_family != QEMU_FAMILY_1 || !gt_qemu.register_vcpu_tb_exec_inline)
        return false;
    gt_qemu.register_vcpu_tb_exec_inline(b, QEMU_INLINE_ADD, counter, value);
    return true;
}

void gt_host_block_count(struct gt_host_block *b, void *set, size_t i, uint64_t value)
{
    if (gt_host_can(GT_HOST_SCOREBOARD))
        gt_host_block_add(b, (struct gt_host_scoreboard_entry){set, i * sizeof(uint64_t)}, value);
    else
        gt_host_block_add_shared(b, (uint64_t *)set + i, value);
}

uint64_t gt_host_insn_pc(const struct gt_host_insn *insn)
{
    return gt_qemu.insn_vaddr(insn);
}

size_t gt_host_insn_size(const struct gt_host_insn *insn)
{
    return gt_qemu.insn_size(insn);
}

void *gt_host_insn_host_addr(const struct gt_host_insn *insn)
{
    return gt_qemu.insn_haddr(insn);
}

char *gt_host_insn_text(const struct gt_host_insn *insn)
{
    return gt_qemu.insn_disas ? gt_qemu.insn_disas(insn) : NULL;
}

size_t gt_host_insn_bytes(const struct gt_host_insn *insn, uint8_t *out, size_t n)
{
    size_t size = gt_host_insn_size(insn);
    if (n > size)
        n = size;
    if (gt_qemu_data_copies)
        return ((size_t(*)(const void *, void *, size_t))gt_qemu.insn_data)(insn, out, n);
    const void *p = ((const void *(*)(const void *))gt_qemu.insn_data)(insn);
    memcpy(out, p, n);
    return n;
}

void gt_host_insn_store(struct gt_host_insn *insn, struct gt_host_scoreboard_entry entry,
                        uint64_t value)
{
    gt_qemu.register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_INLINE_STORE, entry_of(entry),
                                                    value);
}

static void on_insn(struct gt_host_insn *insn, gt_host_exec_fn fn, int flags, void *data)
{
    if (gt_qemu_current_is_corrected())
        gt_qemu.register_vcpu_insn_exec_cb(insn, gt_qemu_current_on_exec, flags,
                                           gt_qemu_current_target((void *)fn, data));
    else
        gt_qemu.register_vcpu_insn_exec_cb(insn, fn, flags, data);
}

void gt_host_insn_on_exec(struct gt_host_insn *insn, gt_host_exec_fn fn, void *data)
{
    on_insn(insn, fn, QEMU_CB_NO_REGS, data);
}

void gt_host_insn_on_exec_regs(struct gt_host_insn *insn, gt_host_exec_fn fn, void *data)
{
    on_insn(insn, fn, QEMU_CB_R_REGS, data);
}

void gt_host_insn_on_exec_ne(struct gt_host_insn *insn, gt_host_exec_fn fn,
                             struct gt_host_scoreboard_entry entry, uint64_t value, void *data)
{
    gt_qemu.register_vcpu_insn_exec_cond_cb(insn, fn, QEMU_CB_R_REGS, QEMU_COND_NE, entry_of(entry),
                                            value, data);
}

void gt_host_insn_on_memory(struct gt_host_insn *insn, gt_host_mem_fn fn, unsigned which,
                            void *data)
{
    /* QEMU 7.2 takes "loads" for stores and "stores" for both; both of them, it does right. */
    if (gt_qemu_family == QEMU_FAMILY_1)
        which = GT_MEM_LOADS | GT_MEM_STORES;
    if (gt_qemu_current_is_corrected())
        gt_qemu.register_vcpu_mem_cb(insn, gt_qemu_current_on_memory, QEMU_CB_NO_REGS, (int)which,
                                     gt_qemu_current_target((void *)fn, data));
    else
        gt_qemu.register_vcpu_mem_cb(insn, fn, QEMU_CB_NO_REGS, (int)which, data);
}
