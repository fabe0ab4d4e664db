/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: see exec.h. */
#include "execlog/plugin/exec.h"

#include "execlog/plugin/recorder.h"
#include "qemu/support/exec_calls.h"
#include "qemu/support/kept_callbacks.h"

#include <string.h>

enum {
    MAX_INSNS = 1024, /* a block has at most 512 */
    MAX_BYTES = 16,   /* of an instruction */
};

/* What happens at one instruction: its line begins, and what it accesses is seen. */
struct steps {
    bool check; /* registers, before it */
    bool stores, watch;
};

static void instrument_line(const struct gt_exlog *e, struct gt_host_insn *insn,
                            struct gt_exlog_line *line, struct steps steps)
{
    const struct gt_exlog_block *b = line->block;
    if (steps.check)
        gt_host_insn_on_exec_regs(insn, gt_exlog_on_line_regs, line);
    else if (!steps.stores || b->n == 1)
        gt_host_insn_on_exec(insn, gt_exlog_on_line, line);
    else if (line->number >= b->begun)
        gt_host_insn_store(insn, (struct gt_host_scoreboard_entry){e->scoreboard, 0},
                           line->number + 1);
    if (steps.watch)
        gt_host_insn_on_memory(insn, gt_exlog_on_access, GT_MEM_LOADS | GT_MEM_STORES, line);
}

static void add_triggers(const struct gt_exlog *e, struct gt_host_insn *insn)
{
    struct gt_exlog_trigger *trigger;
    size_t from = 0;
    uint64_t pc = gt_host_insn_pc(insn);
    while ((trigger = gt_exlog_trigger_at(e, pc, &from)))
        (e->registers.globs ? gt_host_insn_on_exec_regs
                            : gt_host_insn_on_exec)(insn, gt_exlog_on_trigger, trigger);
}

/* Said when it is known, as a machine may be killed. */
static void say_unwatched(struct gt_exlog *e)
{
    if (!e->unwatched)
        gt_host_message("accesses of what ends a block (call, ret, int and others) are not in the "
                        "log: this QEMU takes an interrupt's for theirs, and may abort where they "
                        "are watched; 9.0 and later do not");
    e->unwatched = true;
}

static void instrument(struct gt_exlog *e, struct gt_host_block *block,
                       const struct gt_exlog_insn *insns, size_t n, struct gt_exlog_block *b)
{
    bool stores = __atomic_load_n(&e->stores, __ATOMIC_ACQUIRE);
    if (stores && b && b->n > 1)
        gt_host_block_on_exec(block, gt_exlog_on_block, b);
    struct gt_exlog_line *line = b ? b->lines : NULL;
    for (size_t i = 0; i < n; i++) {
        struct gt_host_insn *insn = gt_host_block_insn(block, i);
        bool watch =
            i + 1 < n || !gt_support_callbacks_reach_interrupts(e->insns, e->host.system, insn);
        add_triggers(e, insn);
        bool logged = line && gt_exlog_is_logged(&insns[i]);
        if (watch && !logged)
            gt_support_callbacks_keep_out(e->insns, insn);
        if (!watch && logged)
            say_unwatched(e);
        switch (insns[i].step) {
        case GT_EXLOG_SKIP:
            break;
        case GT_EXLOG_CHECK:
            gt_host_insn_on_exec_regs(insn, gt_exlog_on_check, NULL);
            break;
        default:
            if (line)
                instrument_line(e, insn, line++,
                                (struct steps){.check = insns[i].step == GT_EXLOG_CHECK_LOG,
                                               .stores = stores,
                                               .watch = watch});
        }
    }
}

static void read_insn(const struct gt_host_insn *insn, struct gt_exlog_insn *out)
{
    uint8_t bytes[MAX_BYTES] = {0};
    size_t size = gt_host_insn_bytes(insn, bytes, sizeof bytes);
    out->pc = gt_host_insn_pc(insn);
    memcpy(&out->opcode, bytes, sizeof out->opcode);
    out->code = gt_exlog_hash(bytes, size);
    out->disassembly = gt_host_insn_text(insn);
    if (!out->disassembly)
        out->disassembly = g_strdup("");
}

void gt_exlog_on_translate(void *self, struct gt_host_block *block)
{
    struct gt_exlog *e = self;
    struct gt_exlog_insn insns[MAX_INSNS];
    size_t n = gt_host_block_insns(block), lines = 0;
    if (n == 0 || n > MAX_INSNS)
        return;
    for (size_t i = 0; i < n; i++)
        read_insn(gt_host_block_insn(block, i), &insns[i]);
    gt_exec_calls_translated(block);
    gt_exlog_cache_reclaim(e);
    pthread_mutex_lock(&e->lock);
    gt_exlog_learn_code(e, insns[0].pc, gt_host_insn_host_addr(gt_host_block_insn(block, 0)));
    gt_exlog_decide_steps(e, insns, n);
    for (size_t i = 0; i < n; i++)
        lines += gt_exlog_is_logged(&insns[i]);
    struct gt_exlog_block *b = lines ? gt_exlog_cache_block(e, insns, n, lines) : NULL;
    instrument(e, block, insns, n, b);
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < n; i++)
        g_free((char *)insns[i].disassembly);
}
