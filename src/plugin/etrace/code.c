/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: each block is described once, however often it is translated, and instrumented. */
#include "base/page.h"
#include "plugin/etrace/etrace.h"

#include <elf.h>
#include <string.h>

enum {
    MOST_INSNS = 1024, /* a block has at most 512 */
    X86_LONGEST = 15,  /* bytes */
};

/* QEMU 7.2 counts an instruction that goes on in the next page as the last one of an x86 block,
 * with some of its bytes in this page, though it is not run there: it begins the next block. Those
 * bytes alone are no instruction. */
static bool is_beyond(const struct gt_insn_ref *last)
{
    uint32_t machine = gt_etrace.arch.guest.id;
    if (gt_etrace.host.abi > 2 || (machine != EM_X86_64 && machine != EM_386) ||
        gt_insn_pc(last) % GT_PAGE <= GT_PAGE - X86_LONGEST)
        return false;
    char *text = gt_insn_text(last);
    bool beyond = text && strncmp(text, ".byte", 5) == 0;
    g_free(text);
    return beyond;
}

/* What the block is, but for its place among the kept ones. False: there is nothing in it. */
static bool describe(struct gt_block *block, struct gt_etrace_block *out, uint8_t *sizes)
{
    size_t n = gt_block_insns(block);
    if (n == 0 || n > MOST_INSNS)
        return false;
    if (n > 1 && is_beyond(gt_block_insn(block, n - 1)))
        n--;
    const struct gt_insn_ref *last = gt_block_insn(block, n - 1);
    *out = (struct gt_etrace_block){
        .start = gt_block_pc(block),
        .end = gt_insn_pc(last) + gt_insn_size(last),
        .insns = (uint16_t)n,
    };
    uint8_t longest = gt_etrace_longest_insn(gt_etrace.arch.guest.id);
    if (out->end - out->start == n * longest) /* all are; asking for each takes its time */
        out->insn_size = longest;
    for (size_t i = 0; i < n && !out->insn_size; i++)
        sizes[i] = (uint8_t)gt_insn_size(gt_block_insn(block, i));
    return true;
}

/* Every access gets the index of its instruction; in a block of one, the block. */
static void watch_memory(struct gt_block *block, struct gt_etrace_block *b)
{
    bool wanted = gt_etrace.flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO);
    bool cut = gt_etrace.host.system && b->insns == 1;
    for (uint32_t i = 0; i < b->insns && (wanted || cut); i++) {
        struct gt_insn_ref *insn = gt_block_insn(block, i);
        if (cut)
            gt_insn_on_memory(insn, gt_etrace_on_lone_access, GT_MEM_LOADS | GT_MEM_STORES, b);
        if (wanted)
            gt_insn_on_memory(insn, gt_etrace_on_access, GT_MEM_LOADS | GT_MEM_STORES,
                              (void *)(uintptr_t)i);
    }
}

static void instrument(struct gt_block *block, struct gt_etrace_block *b)
{
    unsigned flags = gt_etrace.flags;
    bool timed = flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO | GT_ETRACE_F_CPU | GT_ETRACE_F_DISAS);
    if (flags & GT_ETRACE_F_COVERAGE)
        gt_etrace_count(block, b);
    if (flags & GT_ETRACE_F_CPU)
        gt_block_on_exec_regs(block, gt_etrace_on_block_registers, b);
    if (flags & GT_ETRACE_F_EXEC)
        gt_block_on_exec(block,
                         gt_etrace.host_clock    ? gt_etrace_on_block_host
                         : gt_etrace_is_listed() ? gt_etrace_on_block_listed
                                                 : gt_etrace_on_block,
                         b);
    else if (timed && !gt_etrace.host_clock)
        gt_block_on_exec(block, gt_etrace_on_block_count, b);
    if (flags & GT_ETRACE_F_EXEC || timed)
        watch_memory(block, b);
}

void gt_etrace_on_translate(void *self, struct gt_block *block)
{
    (void)self;
    struct gt_etrace_block want;
    uint8_t sizes[MOST_INSNS];
    if (!describe(block, &want, sizes))
        return;
    gt_etrace_maps_look(block);
    pthread_mutex_lock(&gt_etrace.lock);
    struct gt_etrace_block *b = gt_etrace_keep(&want, sizes);
    if (b)
        instrument(block, b);
    pthread_mutex_unlock(&gt_etrace.lock);
    if (b && gt_etrace.flags & GT_ETRACE_F_DISAS)
        gt_etrace_put_code(block, b);
}

static void forget_blocks(void)
{
    for (unsigned k = 0; k < gt_etrace.n_vcpus; k++)
        gt_etrace.vcpus[k].block = NULL;
    gt_etrace_forget_all();
}

/* No translated code has one of the blocks any more: as much memory is needed as code is kept.
 * Those with counts stay. */
void gt_etrace_on_flush(void *self)
{
    bool counts = gt_etrace.flags & GT_ETRACE_F_COVERAGE;
    (void)self;
    if (!counts)
        gt_etrace_put_all_listed();
    pthread_mutex_lock(&gt_etrace.lock);
    counts ? gt_etrace_left_forget() : forget_blocks();
    pthread_mutex_unlock(&gt_etrace.lock);
}
