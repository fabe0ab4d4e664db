/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block cache, and which instructions are logged: see block_cache.h. */
#include "execlog/plugin/block_cache.h"

#include "execlog/plugin/exec.h"
#include "execlog/plugin/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STALE = 1024 /* stale blocks whose memory is reclaimed at once */ };

static guint block_hash(gconstpointer block)
{
    return ((const struct gt_exlog_block *)block)->hash;
}

static gboolean block_equal(gconstpointer a, gconstpointer b)
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

/* Appends bytes that describe all of the block's lines. */
static void put_image(GByteArray *image, const struct gt_exlog_insn *insns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gt_exlog_insn *insn = &insns[i];
        if (!gt_exlog_is_logged(insn))
            continue;
        const struct head head = {insn->pc, insn->opcode, insn->code};
        g_byte_array_append(image, (const uint8_t *)&head, sizeof head);
        g_byte_array_append(image, (const uint8_t *)insn->disassembly,
                            (guint)strlen(insn->disassembly) + 1);
    }
}

/* Returns the head at `*at`, and moves `*at` to the next one. */
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

static void free_content(struct gt_exlog *e, struct gt_exlog_block *b)
{
    e->sink->forget(e, b->described);
    free(b->image);
}

/* Memory for a block of n lines: a stale block's, or new. NULL: none. */
static struct gt_exlog_block *allocate(struct gt_exlog *e, size_t n)
{
    struct gt_exlog_block *b = NULL;
    if (n < GT_EXLOG_REUSED && e->cache.reusable[n]) {
        b = e->cache.reusable[n];
        e->cache.reusable[n] = b->next;
        free_content(e, b);
    } else {
        b = malloc(sizeof *b + n * sizeof b->lines[0]);
    }
    return b;
}

static struct gt_exlog_block *new_block(struct gt_exlog *e, const struct gt_exlog_block *want)
{
    char *image = malloc(want->image_size);
    struct gt_exlog_block *b = image ? allocate(e, want->n) : NULL;
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
    b->described = e->sink->describe(e, b);
    if (b->described)
        return b;
    free(image);
    free(b);
    return NULL;
}

/* ---- code that is written again ------------------------------------------------------------ */

/* An instruction has other bytes at the same address; blocks that only have more or fewer
 * instructions are the same code. */
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

/* Notes the newest block of its address; the one before it may be stale. */
static void note_newest(struct gt_exlog_block_cache *c, struct gt_exlog_block *b)
{
    struct gt_exlog_block *before = g_hash_table_lookup(c->newest, &b->lines[0].pc);
    if (before == b)
        return;
    g_hash_table_replace(c->newest, &b->lines[0].pc, b);
    if (!before || !is_other_code(before, b))
        return;
    g_hash_table_remove(c->blocks, before);
    g_ptr_array_add(c->stale, before);
}

struct gt_exlog_block *gt_exlog_cache_block(struct gt_exlog *e, const struct gt_exlog_insn *insns,
                                            size_t n, size_t lines)
{
    g_autoptr(GByteArray) image = g_byte_array_new();
    put_image(image, insns, n);
    size_t from = 0;
    const struct gt_exlog_block want = {
        .n = lines,
        /* The first line begins with its block, but after start= and stop= took effect. */
        .begun = gt_exlog_is_logged(insns) && !gt_exlog_trigger_at(e, insns[0].pc, &from),
        .image = (char *)image->data,
        .image_size = image->len,
        .hash = gt_exlog_hash(image->data, image->len),
    };
    struct gt_exlog_block *b = g_hash_table_lookup(e->cache.blocks, &want);
    if (!b) {
        b = new_block(e, &want);
        if (!b)
            return NULL;
        g_hash_table_add(e->cache.blocks, b);
    }
    if (!e->host.system && e->n_vcpus == 1)
        note_newest(&e->cache, b);
    return b;
}

/* ---- blocks that are not needed ------------------------------------------------------------ */

/* Delivers all lines that have begun, and finds out which blocks are still needed. All vCPUs are
 * held back. */
static void find_needed(struct gt_exlog *e)
{
    for (unsigned i = 0; i < e->n_vcpus; i++) {
        struct gt_exlog_vcpu *v = &e->vcpus[i];
        if (!v->known)
            continue;
        gt_exlog_deliver(e, v);
        v->block = NULL;
        if (e->sink->set_needed)
            e->sink->set_needed(v);
    }
}

static void clear_needed(struct gt_exlog *e)
{
    GHashTableIter i;
    gpointer block;
    g_hash_table_iter_init(&i, e->cache.blocks);
    while (e->sink->set_needed && g_hash_table_iter_next(&i, &block, NULL))
        ((struct gt_exlog_block *)block)->needed = false;
}

/* The memory of stale blocks that are not needed becomes reusable. */
static void reclaim_stale(struct gt_exlog_block_cache *c)
{
    guint n = 0;
    for (guint i = 0; i < c->stale->len; i++) {
        struct gt_exlog_block *b = c->stale->pdata[i];
        if (b->needed || b->n >= GT_EXLOG_REUSED) {
            b->needed = false;
            c->stale->pdata[n++] = b;
            continue;
        }
        b->next = c->reusable[b->n];
        c->reusable[b->n] = b;
    }
    g_ptr_array_set_size(c->stale, n);
    c->max_stale = n + STALE;
}

void gt_exlog_cache_reclaim(struct gt_exlog *e)
{
    struct gt_exlog_block_cache *c = &e->cache;
    if (c->stale->len < MAX(c->max_stale, STALE) ||
        __atomic_load_n(&e->n_vcpus, __ATOMIC_RELAXED) != 1 || !gt_exlog_hold(e))
        return;
    pthread_mutex_lock(&e->lock);
    find_needed(e);
    reclaim_stale(c);
    clear_needed(e);
    pthread_mutex_unlock(&e->lock);
    gt_gate_open(&e->gate);
}

static void free_block(struct gt_exlog *e, struct gt_exlog_block *b)
{
    free_content(e, b);
    free(b);
}

/* Frees the cached blocks that are not needed. */
static void free_unneeded(struct gt_exlog *e)
{
    GHashTableIter i;
    gpointer block;
    g_hash_table_iter_init(&i, e->cache.blocks);
    while (g_hash_table_iter_next(&i, &block, NULL)) {
        struct gt_exlog_block *b = block;
        if (b->needed) {
            b->needed = false;
            continue;
        }
        g_hash_table_iter_steal(&i);
        free_block(e, b);
    }
}

static void free_reusable(struct gt_exlog *e)
{
    for (size_t n = 0; n < GT_EXLOG_REUSED; n++)
        for (struct gt_exlog_block *b = e->cache.reusable[n], *next; b; b = next) {
            next = b->next;
            free_block(e, b);
            e->cache.reusable[n] = next;
        }
}

void gt_exlog_on_flush(void *self)
{
    struct gt_exlog *e = self;
    if (!gt_exlog_hold(e))
        return;
    pthread_mutex_lock(&e->lock);
    find_needed(e);
    g_hash_table_remove_all(e->cache.newest);
    free_unneeded(e);
    reclaim_stale(&e->cache);
    free_reusable(e);
    pthread_mutex_unlock(&e->lock);
    gt_gate_open(&e->gate);
}

void gt_exlog_cache_init(struct gt_exlog *e)
{
    e->cache.blocks = g_hash_table_new(block_hash, block_equal);
    e->cache.newest = g_hash_table_new(g_int64_hash, g_int64_equal);
    e->cache.stale = g_ptr_array_new();
}

void gt_exlog_cache_fini(struct gt_exlog *e)
{
    g_hash_table_destroy(e->cache.newest);
    free_unneeded(e);
    free_reusable(e);
    for (guint i = 0; i < e->cache.stale->len; i++)
        free_block(e, e->cache.stale->pdata[i]);
    g_hash_table_destroy(e->cache.blocks);
    g_ptr_array_free(e->cache.stale, TRUE);
}

int gt_exlog_add_prefix(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_filter *f = &((struct gt_exlog *)self)->filter;
    if (!*value)
        return gt_error_set(err, GT_E_USAGE,
                            "argument ifilter=: expected how a disassembly begins");
    if (!f->prefixes)
        f->prefixes = g_ptr_array_new();
    g_ptr_array_add(f->prefixes, (char *)value);
    return 0;
}

int gt_exlog_add_address(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_filter *f = &((struct gt_exlog *)self)->filter;
    char *end;
    errno = 0;
    uint64_t address = strtoull(value, &end, 16);
    if (!g_ascii_isxdigit(*value) || *end || errno)
        return gt_error_set(err, GT_E_USAGE, "argument afilter=%.200s: expected a hex address",
                            value);
    if (!f->addresses)
        f->addresses = g_array_new(FALSE, FALSE, sizeof address);
    g_array_append_val(f->addresses, address);
    return 0;
}

static bool matches(const struct gt_exlog_filter *f, const struct gt_exlog_insn *insn)
{
    for (guint i = 0; f->prefixes && i < f->prefixes->len; i++)
        if (g_str_has_prefix(insn->disassembly, f->prefixes->pdata[i]))
            return true;
    for (guint i = 0; f->addresses && i < f->addresses->len; i++)
        if (g_array_index(f->addresses, uint64_t, i) == insn->pc)
            return true;
    return false;
}

void gt_exlog_decide_steps(struct gt_exlog *e, struct gt_exlog_insn *insns, size_t n)
{
    const bool filtered = e->filter.prefixes || e->filter.addresses;
    bool check = e->registers.globs != NULL;
    for (size_t i = 0; i < n; i++) {
        bool inside = gt_exlog_is_inside(e, insns[i].pc);
        bool log = !filtered || matches(&e->filter, &insns[i]);
        bool names = e->registers.rdisas && gt_exlog_names_register(e, insns[i].disassembly);
        if (inside && (log || names))
            insns[i].step = check ? GT_EXLOG_CHECK_LOG : GT_EXLOG_LOG;
        else
            insns[i].step = check ? GT_EXLOG_CHECK : GT_EXLOG_SKIP;
        if (e->registers.rdisas)
            check = names;
    }
}

void gt_exlog_filter_fini(struct gt_exlog *e)
{
    if (e->filter.prefixes)
        g_ptr_array_free(e->filter.prefixes, TRUE);
    if (e->filter.addresses)
        g_array_free(e->filter.addresses, TRUE);
}
