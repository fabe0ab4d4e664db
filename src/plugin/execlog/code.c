/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation. A block with lines gets one callback where it begins; where each line does, the
 * translated code stores how many have begun: an instruction that faults has. Where the host has no
 * such stores, where registers are looked at, and for a block of one line, each line has a
 * callback.
 */
#include "plugin/execlog/execlog.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_INSNS = 1024, /* a block has at most 512 */
    MOST_BYTES = 16,   /* of an instruction */
};

static void instrument_line(struct gt_insn_ref *insn, struct gt_exlog_line *line, bool check,
                            bool stores)
{
    const struct gt_exlog_block *b = line->block;
    if (check)
        gt_insn_on_exec_regs(insn, gt_exlog_on_line_regs, line);
    else if (!stores || b->n == 1)
        gt_insn_on_exec(insn, gt_exlog_on_line, line);
    else if (line->number >= b->begun)
        gt_insn_store(insn, (struct gt_cell){gt_exlog.cells, 0}, line->number + 1);
    gt_insn_on_memory(insn, gt_exlog_on_access, GT_MEM_LOADS | GT_MEM_STORES, line);
}

static void put_triggers(struct gt_insn_ref *insn)
{
    struct gt_exlog_trigger *trigger;
    size_t from = 0;
    uint64_t pc = gt_insn_pc(insn);
    while ((trigger = gt_exlog_trigger_at(pc, &from)))
        (gt_exlog.register_globs ? gt_insn_on_exec_regs
                                 : gt_insn_on_exec)(insn, gt_exlog_on_trigger, trigger);
}

static void instrument(struct gt_block *block, const struct gt_exlog_insn *insns, size_t n,
                       struct gt_exlog_block *b)
{
    bool stores = __atomic_load_n(&gt_exlog.stores, __ATOMIC_ACQUIRE);
    if (stores && b && b->n > 1)
        gt_block_on_exec(block, gt_exlog_on_block, b);
    struct gt_exlog_line *line = b ? b->lines : NULL;
    for (size_t i = 0; i < n; i++) {
        struct gt_insn_ref *insn = gt_block_insn(block, i);
        put_triggers(insn);
        switch (insns[i].step) {
        case GT_EXLOG_SKIP:
            break;
        case GT_EXLOG_CHECK:
            gt_insn_on_exec_regs(insn, gt_exlog_on_check, NULL);
            break;
        default:
            if (line)
                instrument_line(insn, line++, insns[i].step == GT_EXLOG_CHECK_LOG, stores);
        }
    }
}

static void take_insn(const struct gt_insn_ref *insn, struct gt_exlog_insn *out)
{
    uint8_t bytes[MOST_BYTES] = {0};
    size_t size = gt_insn_bytes(insn, bytes, sizeof bytes);
    out->pc = gt_insn_pc(insn);
    memcpy(&out->opcode, bytes, sizeof out->opcode);
    out->code = gt_exlog_hash(bytes, size);
    out->disassembly = gt_insn_text(insn);
    if (!out->disassembly)
        out->disassembly = g_strdup("");
}

void gt_exlog_on_translate(void *self, struct gt_block *block)
{
    (void)self;
    struct gt_exlog_insn insns[MOST_INSNS];
    size_t n = gt_block_insns(block), lines = 0;
    if (n == 0 || n > MOST_INSNS)
        return;
    for (size_t i = 0; i < n; i++)
        take_insn(gt_block_insn(block, i), &insns[i]);
    gt_exlog_reclaim();
    pthread_mutex_lock(&gt_exlog.lock);
    gt_exlog_learn_code(insns[0].pc, gt_insn_host_addr(gt_block_insn(block, 0)));
    gt_exlog_filter(insns, n);
    for (size_t i = 0; i < n; i++)
        lines += insns[i].step == GT_EXLOG_LOG || insns[i].step == GT_EXLOG_CHECK_LOG;
    struct gt_exlog_block *b = lines ? gt_exlog_keep(insns, n, lines) : NULL;
    instrument(block, insns, n, b);
    pthread_mutex_unlock(&gt_exlog.lock);
    for (size_t i = 0; i < n; i++)
        g_free((char *)insns[i].disassembly);
}
