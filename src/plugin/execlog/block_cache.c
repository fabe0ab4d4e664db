/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks that are kept: see struct gt_exlog_block.
 *
 * A program that writes its own code has it translated again and again, each time as another block.
 * Where it has but one thread, the block of code that is gone gives its place to a later one with
 * as many lines: QEMU has thrown that translation away when the code was written. A place is never
 * freed for anything else, so that a translation which is there against all rules would have lines
 * of another block, and no more. With threads, one may still be in such a block; in a machine,
 * another address space may have code at that address: there blocks are kept.
 */
#include "plugin/execlog/execlog.h"

#include <stdlib.h>
#include <string.h>

enum { STALE = 1024 }; /* blocks that wait until their places are taken, all at once */

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

/* ---- a block ------------------------------------------------------------------------------- */

/* What an image has of each line; its disassembly follows. */
struct head {
    uint64_t pc;
    uint32_t opcode, code; /* as struct gt_exlog_insn has them */
};

/* Bytes that say all of the block's lines. */
static void put_image(GByteArray *image, const struct gt_exlog_insn *insns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gt_exlog_insn *insn = &insns[i];
        if (insn->step != GT_EXLOG_LOG && insn->step != GT_EXLOG_CHECK_LOG)
            continue;
        const struct head head = {insn->pc, insn->opcode, insn->code};
        g_byte_array_append(image, (const uint8_t *)&head, sizeof head);
        g_byte_array_append(image, (const uint8_t *)insn->disassembly,
                            (guint)strlen(insn->disassembly) + 1);
    }
}

/* The head at `*at`, which then is the next one's. */
static struct head take_head(const char **at)
{
    struct head head;
    memcpy(&head, *at, sizeof head);
    *at += sizeof head;
    *at += strlen(*at) + 1;
    return head;
}

guint gt_exlog_hash(const uint8_t *bytes, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 16777619u;
    return h;
}

static void free_content(struct gt_exlog_block *b)
{
    gt_exlog.sink->forget(b->described);
    free(b->image);
}

/* A place for so many lines: of a block that is gone, or a new one. */
static struct gt_exlog_block *take_place(size_t n)
{
    struct gt_exlog_block *b = NULL;
    if (n < G_N_ELEMENTS(gt_exlog.places) && gt_exlog.places[n]) {
        b = gt_exlog.places[n];
        gt_exlog.places[n] = b->next;
        free_content(b);
    } else {
        b = malloc(sizeof *b + n * sizeof b->lines[0]);
    }
    return b;
}

static struct gt_exlog_block *new_block(const struct gt_exlog_block *want)
{
    char *image = malloc(want->image_size);
    struct gt_exlog_block *b = image ? take_place(want->n) : NULL;
    if (!b) {
        free(image);
        return NULL;
    }
    *b = *want;
    b->image = memcpy(image, want->image, want->image_size);
    const char *at = b->image;
    for (size_t i = 0; i < b->n; i++) {
        const char *disassembly = at + sizeof(struct head);
        const struct head head = take_head(&at);
        b->lines[i] = (struct gt_exlog_line){b, disassembly, head.pc, head.opcode, (uint32_t)i};
    }
    b->described = gt_exlog.sink->describe(b);
    if (b->described)
        return b;
    free(image);
    free(b);
    return NULL;
}

/* ---- code that is written again ------------------------------------------------------------ */

/* Some instruction has other bytes at the same address: not only more or fewer of them. */
static bool is_other_code(const struct gt_exlog_block *a, const struct gt_exlog_block *b)
{
    const char *x = a->image, *y = b->image;
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const struct head one = take_head(&x), other = take_head(&y);
        if (one.pc != other.pc)
            return false;
        if (one.code != other.code)
            return true;
    }
    return false;
}

/* The newest block of its address; the one before it may be stale. */
static void note_newest(struct gt_exlog_block *b)
{
    struct gt_exlog_block *before = g_hash_table_lookup(gt_exlog.newest, &b->lines[0].pc);
    if (before == b)
        return;
    g_hash_table_replace(gt_exlog.newest, &b->lines[0].pc, b);
    if (!before || !is_other_code(before, b))
        return;
    g_hash_table_remove(gt_exlog.blocks, before);
    g_ptr_array_add(gt_exlog.stale, before);
}

struct gt_exlog_block *gt_exlog_keep(const struct gt_exlog_insn *insns, size_t n, size_t lines)
{
    g_autoptr(GByteArray) image = g_byte_array_new();
    put_image(image, insns, n);
    bool logged = insns[0].step == GT_EXLOG_LOG || insns[0].step == GT_EXLOG_CHECK_LOG;
    size_t from = 0;
    const struct gt_exlog_block want = {
        .n = lines,
        /* Where a block begins, its first line has; but not before start= and stop= were seen. */
        .begun = logged && !gt_exlog_trigger_at(insns[0].pc, &from),
        .image = (char *)image->data,
        .image_size = image->len,
        .hash = gt_exlog_hash(image->data, image->len),
    };
    struct gt_exlog_block *b = g_hash_table_lookup(gt_exlog.blocks, &want);
    if (!b) {
        b = new_block(&want);
        if (!b)
            return NULL;
        g_hash_table_add(gt_exlog.blocks, b);
    }
    if (!gt_exlog.host.system && gt_exlog.n_vcpus == 1)
        note_newest(b);
    return b;
}

/* ---- blocks that are not needed ------------------------------------------------------------ */

/* What is said of blocks is told; those that are needed still are marked. */
static void tell_and_mark(void)
{
    for (unsigned i = 0; i < gt_exlog.n_vcpus; i++) {
        struct gt_exlog_vcpu *v = &gt_exlog.vcpus[i];
        if (!v->known)
            continue;
        gt_exlog_tell(v);
        v->block = NULL;
        if (gt_exlog.sink->mark)
            gt_exlog.sink->mark(v);
    }
}

static void clear_marks(void)
{
    GHashTableIter i;
    gpointer block;
    g_hash_table_iter_init(&i, gt_exlog.blocks);
    while (gt_exlog.sink->mark && g_hash_table_iter_next(&i, &block, NULL))
        ((struct gt_exlog_block *)block)->marked = false;
}

/* Places of stale blocks become free, but for those that are marked. */
static void give_places(void)
{
    guint kept = 0;
    for (guint i = 0; i < gt_exlog.stale->len; i++) {
        struct gt_exlog_block *b = gt_exlog.stale->pdata[i];
        if (b->marked || b->n >= G_N_ELEMENTS(gt_exlog.places)) {
            b->marked = false;
            gt_exlog.stale->pdata[kept++] = b;
            continue;
        }
        b->next = gt_exlog.places[b->n];
        gt_exlog.places[b->n] = b;
    }
    g_ptr_array_set_size(gt_exlog.stale, kept);
    gt_exlog.stale_most = kept + STALE;
}

void gt_exlog_reclaim(void)
{
    if (gt_exlog.stale->len < MAX(gt_exlog.stale_most, STALE) ||
        __atomic_load_n(&gt_exlog.n_vcpus, __ATOMIC_RELAXED) != 1 || !gt_exlog_shut(GT_EXLOG_HELD))
        return;
    pthread_mutex_lock(&gt_exlog.lock);
    tell_and_mark();
    give_places();
    clear_marks();
    pthread_mutex_unlock(&gt_exlog.lock);
    gt_exlog_reopen();
}

static void forget(struct gt_exlog_block *b)
{
    free_content(b);
    free(b);
}

/* No translated code has one of the blocks any more. */
void gt_exlog_on_flush(void *self)
{
    GHashTableIter i;
    gpointer block;
    (void)self;
    if (!gt_exlog_shut(GT_EXLOG_HELD))
        return;
    pthread_mutex_lock(&gt_exlog.lock);
    tell_and_mark();
    g_hash_table_remove_all(gt_exlog.newest);
    g_hash_table_iter_init(&i, gt_exlog.blocks);
    while (g_hash_table_iter_next(&i, &block, NULL)) {
        struct gt_exlog_block *b = block;
        if (b->marked) {
            b->marked = false;
            continue;
        }
        g_hash_table_iter_steal(&i);
        forget(b);
    }
    give_places();
    for (size_t n = 0; n < G_N_ELEMENTS(gt_exlog.places); n++)
        for (struct gt_exlog_block *b = gt_exlog.places[n], *next; b; b = next) {
            next = b->next;
            forget(b);
            gt_exlog.places[n] = next;
        }
    pthread_mutex_unlock(&gt_exlog.lock);
    gt_exlog_reopen();
}
