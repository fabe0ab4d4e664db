/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: see exec.h. */
#include "base/page.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/early_exit.h"
#include "etrace/plugin/exec.h"
#include "etrace/plugin/recorder.h"
#include "etrace/plugin/text.h"
#include "qemu/support/exec_calls.h"

#include <elf.h>
#include <string.h>

enum {
    MAX_INSNS = 1024,  /* a block has at most 512 */
    X86_MAX_INSN = 15, /* bytes */
};

/* QEMU 7.2 counts an instruction that continues on the next page as the last one of an x86 block,
 * with its bytes on this page, though the block does not execute it: the next
 * block begins with it. Those bytes alone are not an instruction. */
static bool is_cut_off(const struct gt_etrace *e, const struct gt_host_insn *last)
{
    uint32_t machine = e->arch.guest.id;
    if (e->host.abi > 2 || (machine != EM_X86_64 && machine != EM_386) ||
        gt_host_insn_pc(last) % GT_PAGE <= GT_PAGE - X86_MAX_INSN)
        return false;
    char *text = gt_host_insn_text(last);
    bool cut_off = text && strncmp(text, ".byte", 5) == 0;
    g_free(text);
    return cut_off;
}

/* Describes the block, without its place in the cache. False: it has no instructions. */
static bool describe(const struct gt_etrace *e, struct gt_host_block *block,
                     struct gt_etrace_block *out, uint8_t *sizes)
{
    size_t n = gt_host_block_insns(block);
    if (n == 0 || n > MAX_INSNS)
        return false;
    if (n > 1 && is_cut_off(e, gt_host_block_insn(block, n - 1)))
        n--;
    const struct gt_host_insn *last = gt_host_block_insn(block, n - 1);
    *out = (struct gt_etrace_block){
        .start = gt_host_block_pc(block),
        .end = gt_host_insn_pc(last) + gt_host_insn_size(last),
        .insns = (uint16_t)n,
    };
    uint8_t longest = gt_etrace_longest_insn(e->arch.guest.id);
    if (out->end - out->start == n * longest) /* all are as long; asking for each takes time */
        out->insn_size = longest;
    for (size_t i = 0; i < n && !out->insn_size; i++)
        sizes[i] = (uint8_t)gt_host_insn_size(gt_host_block_insn(block, i));
    return true;
}

/* Each access gets its instruction's index; in a machine's block of one instruction also the block.
 */
static void watch_memory(const struct gt_etrace *e, struct gt_host_block *block,
                         struct gt_etrace_block *b)
{
    bool wanted = e->flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO);
    bool single = gt_etrace_may_watch_single(e, block, b);
    for (uint32_t i = 0; i < b->insns && (wanted || single); i++) {
        struct gt_host_insn *insn = gt_host_block_insn(block, i);
        if (i + 1U == b->insns && gt_etrace_is_unwatched(e, insn))
            break;
        if (single)
            gt_host_insn_on_memory(insn, gt_etrace_on_single_access, GT_MEM_LOADS | GT_MEM_STORES,
                                   b);
        if (wanted)
            gt_host_insn_on_memory(insn, gt_etrace_on_access, GT_MEM_LOADS | GT_MEM_STORES,
                                   (void *)(uintptr_t)i);
    }
}

static void instrument(struct gt_etrace *e, struct gt_host_block *block, struct gt_etrace_block *b)
{
    unsigned flags = e->flags;
    bool timed = flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO | GT_ETRACE_F_CPU | GT_ETRACE_F_DISAS);
    if (flags & GT_ETRACE_F_COVERAGE)
        gt_etrace_count_runs(e, block, b);
    if (flags & GT_ETRACE_F_CPU)
        gt_host_block_on_exec_regs(block, gt_etrace_on_block_registers, b);
    if (flags & GT_ETRACE_F_EXEC)
        gt_host_block_on_exec(block,
                              e->host_clock            ? gt_etrace_on_block_host
                              : gt_etrace_has_queue(e) ? gt_etrace_on_block_queued
                                                       : gt_etrace_on_block,
                              b);
    else if (timed && !e->host_clock)
        gt_host_block_on_exec(block, gt_etrace_on_block_time, b);
    if (flags & GT_ETRACE_F_EXEC || timed)
        watch_memory(e, block, b);
    gt_etrace_unreported_count(e, block, b->insns);
}

void gt_etrace_on_translate(void *self, struct gt_host_block *block)
{
    struct gt_etrace *e = self;
    struct gt_etrace_block want;
    uint8_t sizes[MAX_INSNS];
    if (!describe(e, block, &want, sizes))
        return;
    gt_exec_calls_translated(block);
    gt_etrace_maps_translate(e, block);
    pthread_mutex_lock(&e->lock);
    struct gt_etrace_block *b = gt_etrace_cache_block(e, &want, sizes);
    if (b)
        instrument(e, block, b);
    pthread_mutex_unlock(&e->lock);
    if (b && e->flags & GT_ETRACE_F_DISAS)
        gt_etrace_put_code(e, block, b);
}

static void forget_blocks(struct gt_etrace *e)
{
    for (unsigned k = 0; k < e->n_vcpus; k++)
        e->vcpus[k].block = NULL;
    gt_etrace_cache_clear(e);
}

/* The cache takes as much memory as QEMU has code. Blocks with counts stay. */
void gt_etrace_on_flush(void *self)
{
    struct gt_etrace *e = self;
    bool counts = e->flags & GT_ETRACE_F_COVERAGE;
    if (gt_gate_ends(&e->gate))
        return;
    if (!counts)
        gt_etrace_drain_all(e);
    pthread_mutex_lock(&e->lock);
    counts ? gt_etrace_early_exit_flush(e) : forget_blocks(e);
    pthread_mutex_unlock(&e->lock);
}
