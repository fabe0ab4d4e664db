/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of blocks (struct gt_code): listed in the page of their address, and found by their
 * content, so that a block that is translated again gets its old one. They live as long as the
 * process.
 *
 * Each transfer reads one or two of them, from all over the guest's code, so their place in memory
 * decides what a transfer costs. Two share a cache line: a block that ends in a call, and the one
 * that the call returns to. A machine's lie in huge pages where the host has them.
 */
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/recorder.h"

#include <stdlib.h>
#include <sys/mman.h>

_Static_assert(2 * sizeof(struct gt_code) == 64, "a cache line");

/* ---- how control reaches code -------------------------------------------------------------- */

struct gt_run_granule *gt_run_granule_at(struct gt_recorder *r, uint64_t pc)
{
    struct gt_run_page *page = gt_support_pages_at(&r->code.pages, pc, sizeof *page);
    return &page->granule[pc % GT_PAGE / GT_GRANULE];
}

bool gt_run_block_entry_is_known(struct gt_recorder *r, uint64_t pc)
{
    const struct gt_run_granule *granule = gt_run_granule_at(r, pc);
    return (granule->by_predecessor | granule->call | granule->otherwise) & gt_run_granule_bit(pc);
}

/* ---- descriptions -------------------------------------------------------------------------- */

static bool same_code(const struct gt_code *a, const struct gt_code *b)
{
    return a->size == b->size && a->target == b->target && a->fn == b->fn && a->insns == b->insns &&
           a->exit == b->exit && a->arrival == b->arrival && a->detail == b->detail &&
           gt_code_level(a) == gt_code_level(b);
}

/* Room for two in one cache line, or NULL. */
static struct gt_code *take_line(struct gt_recorder *r)
{
    enum { ROOM = 2 << 20 };
    struct gt_run_block_cache *c = &r->code.cache;
    if (c->at == c->end) {
        void *p;
        if (posix_memalign(&p, ROOM, ROOM) != 0)
            return NULL;
        if (!r->guest.user)
            (void)madvise(p, ROOM, MADV_HUGEPAGE); /* slower without */
        c->at = p;
        c->end = c->at + ROOM / sizeof *c->at;
    }
    c->at += 2;
    return c->at - 2;
}

static struct gt_run_cached_block *first_at(struct gt_run_cached_block *cached, uint64_t pc)
{
    while (cached && cached->pc != pc)
        cached = cached->next;
    return cached;
}

struct gt_run_cached_block *gt_run_cached_block_at(struct gt_recorder *r, uint64_t pc)
{
    return first_at(gt_run_granule_at(r, pc)->blocks, pc);
}

struct gt_run_cached_block *gt_run_cached_block_next(const struct gt_run_cached_block *cached)
{
    return first_at(cached->next, cached->pc);
}

/* Without memory the description is not found again. */
static void insert(struct gt_recorder *r, struct gt_code *code)
{
    struct gt_run_granule *granule = gt_run_granule_at(r, code->pc);
    struct gt_run_cached_block *cached =
        gt_support_arena_take(&r->code.cache.cached, sizeof *cached);
    if (!cached)
        return;
    *cached = (struct gt_run_cached_block){code->pc, code, granule->blocks};
    granule->blocks = cached;
}

static bool is_reserved(const struct gt_code *code)
{
    return code->insns == 0;
}

static bool comes_back(const struct gt_code *code)
{
    return code->exit == GT_EXIT_CALL || code->exit == GT_EXIT_CALL_INDIRECT ||
           code->exit == GT_EXIT_SYSCALL;
}

/* Returns a free description for code at that address. */
static struct gt_code *find_room(struct gt_recorder *r, const struct gt_code *want,
                                 struct gt_code *reserved)
{
    if (reserved)
        return reserved;
    struct gt_code *code = r->code.cache.half;
    bool pair = comes_back(want);
    if (code && !pair) {
        r->code.cache.half = NULL;
    } else {
        code = take_line(r);
        if (!code)
            return NULL;
        if (pair) {
            code[1] = (struct gt_code){.pc = gt_code_end(want)};
            insert(r, &code[1]);
        } else {
            r->code.cache.half = code + 1;
        }
    }
    code->pc = want->pc;
    insert(r, code);
    return code;
}

struct gt_code *gt_run_cache_block(struct gt_recorder *r, const struct gt_code *want)
{
    struct gt_code *reserved = NULL;
    for (struct gt_run_cached_block *k = gt_run_cached_block_at(r, want->pc); k;
         k = gt_run_cached_block_next(k)) {
        if (same_code(k->code, want))
            return k->code;
        if (is_reserved(k->code))
            reserved = k->code;
    }
    struct gt_code *code = find_room(r, want, reserved);
    if (!code)
        return NULL;
    *code = *want;
    gt_code_set_slow_flags(code);
    return code;
}

void gt_run_code_is_handler(struct gt_recorder *r, struct gt_track_func *fn)
{
    fn->flags |= GT_FUNC_HANDLER;
    for (struct gt_run_cached_block *k = gt_run_cached_block_at(r, fn->lo); k;
         k = gt_run_cached_block_next(k))
        if (k->code->fn == fn)
            gt_code_set_slow_flags(k->code);
}

/* ---- functions called ------------------------------------------------------------------------ */

static gint compare_u64(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_entered_unnamed(const struct gt_recorder *r, const struct gt_code *code)
{
    return gt_select_code_is_entered(code) &&
           (!r->guest.user || code->fn->flags & (GT_FUNC_ANON | GT_FUNC_UNNAMED));
}

/* Functions without a symbol -> their modules; machines have one for all. */
static GHashTable *unnamed_modules(const struct gt_recorder *r)
{
    GHashTable *of = g_hash_table_new(NULL, NULL);
    for (guint i = 0; r->guest.user && i < r->code.modules.all->len; i++) {
        struct gt_support_module *m = g_ptr_array_index(r->code.modules.all, i);
        g_hash_table_insert(of, m->anon, m);
        for (guint k = 0; k < m->handlers->len; k++)
            g_hash_table_insert(of, m->handlers->pdata[k], m);
    }
    return of;
}

static struct gt_support_module *module_of(const struct gt_recorder *r,
                                           const struct gt_track_func *fn, GHashTable *unnamed)
{
    return r->guest.user ? g_hash_table_lookup(unnamed, fn)
                         : g_ptr_array_index(r->code.modules.all, 0);
}

static void collect_entered_of(const struct gt_recorder *r, const struct gt_run_page *page,
                               GHashTable *unnamed)
{
    for (size_t i = 0; i < G_N_ELEMENTS(page->granule); i++)
        for (const struct gt_run_cached_block *k = page->granule[i].blocks; k; k = k->next) {
            struct gt_support_module *m =
                is_entered_unnamed(r, k->code) ? module_of(r, k->code->fn, unnamed) : NULL;
            uint64_t rel = m ? k->code->pc - m->lo : 0;
            if (m)
                g_array_append_val(m->entered, rel);
        }
}

/* Several blocks at an address enter the same function. */
static void sort_unique(GArray *list)
{
    guint n = 0;
    g_array_sort(list, compare_u64);
    for (guint i = 0; i < list->len; i++) {
        uint64_t value = g_array_index(list, uint64_t, i);
        if (n == 0 || g_array_index(list, uint64_t, n - 1) != value)
            g_array_index(list, uint64_t, n++) = value;
    }
    g_array_set_size(list, n);
}

void gt_run_blocks_collect_entered(struct gt_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    g_autoptr(GHashTable) unnamed = unnamed_modules(r);
    GHashTableIter it;
    gpointer value;
    if (r->code.pages.all) {
        g_hash_table_iter_init(&it, r->code.pages.all);
        while (g_hash_table_iter_next(&it, NULL, &value))
            collect_entered_of(r, value, unnamed);
    }
    for (guint i = 0; i < r->code.modules.all->len; i++)
        sort_unique(
            ((struct gt_support_module *)g_ptr_array_index(r->code.modules.all, i))->entered);
    pthread_mutex_unlock(&r->lock);
}
