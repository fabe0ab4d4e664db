/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation. A block with lines gets one callback where it begins; where each line does, the
 * translated code stores how many have begun: an instruction that faults has. Where the host has no
 * such stores, where registers are looked at, and for a block of one line, each line has a
 * callback.
 */
#include "plugin/execlog.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INSNS = 1024 }; /* a block has at most 512 */

guint gt_exlog_block_hash(gconstpointer block)
{
    return ((const struct gt_exlog_block *)block)->hash;
}

gboolean gt_exlog_block_equal(gconstpointer a, gconstpointer b)
{
    const struct gt_exlog_block *x = a, *y = b;
    return x->n == y->n && x->begun == y->begun && x->image_size == y->image_size &&
           memcmp(x->image, y->image, x->image_size) == 0;
}

/* Bytes that say all of the block's lines: address, opcode and disassembly of each. */
static void put_image(GByteArray *image, const struct gt_exlog_insn *insns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gt_exlog_insn *insn = &insns[i];
        if (insn->step != GT_EXLOG_LOG && insn->step != GT_EXLOG_CHECK_LOG)
            continue;
        g_byte_array_append(image, (const uint8_t *)&insn->pc, sizeof insn->pc);
        g_byte_array_append(image, (const uint8_t *)&insn->opcode, sizeof insn->opcode);
        g_byte_array_append(image, (const uint8_t *)insn->disassembly,
                            (guint)strlen(insn->disassembly) + 1);
    }
}

static guint hash_of(const uint8_t *bytes, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 16777619u;
    return h;
}

static struct gt_exlog_block *new_block(const struct gt_exlog_block *want)
{
    size_t head = sizeof *want + want->n * sizeof want->lines[0];
    struct gt_exlog_block *b = malloc(head + want->image_size);
    if (!b)
        return NULL;
    *b = *want;
    char *at = (char *)b + head;
    b->image = memcpy(at, want->image, want->image_size);
    for (size_t i = 0; i < b->n; i++) {
        struct gt_exlog_line *line = &b->lines[i];
        *line = (struct gt_exlog_line){.block = b, .number = (uint32_t)i};
        memcpy(&line->pc, at, sizeof line->pc);
        memcpy(&line->opcode, at + sizeof line->pc, sizeof line->opcode);
        line->disassembly = at + sizeof line->pc + sizeof line->opcode;
        at += sizeof line->pc + sizeof line->opcode + strlen(line->disassembly) + 1;
    }
    return b;
}

/* Where a block begins, its first line has; but not before start= and stop= there were seen. */
static uint64_t begun(const struct gt_exlog_insn *first)
{
    size_t from = 0;
    bool logged = first->step == GT_EXLOG_LOG || first->step == GT_EXLOG_CHECK_LOG;
    return logged && !gt_exlog_trigger_at(first->pc, &from);
}

/* The kept block that has these lines; NULL: no memory. With the lock. */
static struct gt_exlog_block *keep(const struct gt_exlog_insn *insns, size_t n, size_t lines)
{
    g_autoptr(GByteArray) image = g_byte_array_new();
    put_image(image, insns, n);
    struct gt_exlog_block want = {
        .n = lines,
        .begun = begun(&insns[0]),
        .image = (const char *)image->data,
        .image_size = image->len,
        .hash = hash_of(image->data, image->len),
    };
    struct gt_exlog_block *b = g_hash_table_lookup(gt_exlog.blocks, &want);
    if (b)
        return b;
    b = new_block(&want);
    if (!b)
        return NULL;
    b->described = gt_exlog.sink->describe(b);
    if (!b->described) {
        free(b);
        return NULL;
    }
    g_hash_table_add(gt_exlog.blocks, b);
    return b;
}

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
    uint8_t bytes[4] = {0};
    gt_insn_bytes(insn, bytes, sizeof bytes);
    out->pc = gt_insn_pc(insn);
    memcpy(&out->opcode, bytes, sizeof bytes);
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
    pthread_mutex_lock(&gt_exlog.lock);
    gt_exlog_learn_code(insns[0].pc, gt_insn_host_addr(gt_block_insn(block, 0)));
    gt_exlog_filter(insns, n);
    for (size_t i = 0; i < n; i++)
        lines += insns[i].step == GT_EXLOG_LOG || insns[i].step == GT_EXLOG_CHECK_LOG;
    struct gt_exlog_block *b = lines ? keep(insns, n, lines) : NULL;
    instrument(block, insns, n, b);
    pthread_mutex_unlock(&gt_exlog.lock);
    for (size_t i = 0; i < n; i++)
        g_free((char *)insns[i].disassembly);
}

/* No translated code has one of the blocks any more. */
void gt_exlog_on_flush(void *self)
{
    (void)self;
    if (!gt_exlog_shut(GT_EXLOG_HELD))
        return;
    pthread_mutex_lock(&gt_exlog.lock);
    for (unsigned i = 0; i < gt_exlog.n_vcpus; i++) {
        struct gt_exlog_vcpu *v = &gt_exlog.vcpus[i];
        if (!v->known)
            continue;
        gt_exlog_tell(v);
        v->block = NULL;
        if (gt_exlog.sink->mark)
            gt_exlog.sink->mark(v);
    }
    GHashTableIter i;
    gpointer block;
    g_hash_table_iter_init(&i, gt_exlog.blocks);
    while (g_hash_table_iter_next(&i, &block, NULL)) {
        struct gt_exlog_block *b = block;
        if (!b->marked) {
            g_hash_table_iter_steal(&i);
            gt_exlog.sink->forget(b->described);
            free(b);
        } else {
            b->marked = false;
        }
    }
    pthread_mutex_unlock(&gt_exlog.lock);
    gt_exlog_reopen();
}
