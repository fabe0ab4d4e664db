/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions as filters see them, and the set's verdicts of them: see filters.h. */
#include "calls/recorder/output/function.h"
#include "calls/recorder/output/source.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/level_reader.h"
#include "filter/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function as filters see it. */
struct gt_select_filter_known {
    struct gt_select_filter_judged
        *judged;                         /* by the newest set that was asked; its `id` may be 0 */
    struct gt_select_filter_judged *all; /* in use or not */
    struct gt_filter_function what;
    struct gt_track_func *fn;             /* NULL: an address */
    struct gt_select_filter_known *whole; /* of an address: the code that it is in */
    const char *shown;                    /* its name */
    GHashTable *by_address;               /* code without symbols: where it is entered ->
                                           * struct gt_select_filter_known; NULL: a function. With
                                           * filters.lock */
    const struct gt_support_module *module;
};

static char *keep_text(struct gt_select_filters *f, const char *text)
{
    char *copy = gt_support_arena_take(&f->arena, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* Code without a symbol, as the symbol file will name it (meta.c). */
static void name_unnamed(struct gt_select_filters *f, struct gt_select_filter_known *k)
{
    const struct gt_support_module *m = k->module;
    char name[300];
    const char *slash = m ? strrchr(m->path, '/') : NULL;
    if (!m || m->hi == UINT64_MAX)
        snprintf(name, sizeof name, "0x%" PRIx64, k->what.address);
    else
        snprintf(name, sizeof name, "%.255s+0x%" PRIx64, slash ? slash + 1 : m->path,
                 k->what.address - m->lo);
    k->shown = k->what.name = keep_text(f, name);
}

/* Of code that no symbol covers, the address. With f->lock. */
static struct gt_select_filter_known *find_address(struct gt_recorder *r,
                                                   struct gt_select_filter_known *of, uint64_t addr,
                                                   const unsigned *level)
{
    struct gt_select_filters *f = &r->filters;
    struct gt_select_filter_known *k = g_hash_table_lookup(of->by_address, &addr);
    if (k)
        return k;
    k = gt_support_arena_take(&f->arena, sizeof *k);
    if (!k)
        abort(); /* as GLib does */
    k->module = of->module;
    k->whole = of;
    gt_recorder_function_describe(r, of->module, addr, level, &k->what);
    name_unnamed(f, k);
    g_hash_table_insert(of->by_address, &k->what.address, k);
    return k;
}

static struct gt_select_filter_known *make_known(struct gt_recorder *r,
                                                 const struct gt_support_module *module,
                                                 const struct gt_track_func *fn,
                                                 const unsigned *level)
{
    struct gt_select_filters *f = &r->filters;
    struct gt_select_filter_known *k = gt_support_arena_take(&f->arena, sizeof *k);
    if (!k)
        abort(); /* as GLib does */
    k->module = module;
    gt_recorder_function_describe(r, module, fn ? fn->lo : 0, level, &k->what);
    if (fn && !(fn->flags & GT_FUNC_ANON))
        gt_recorder_function_add_names(module, fn, &f->arena, &k->what);
    if (k->what.name) {
        k->shown = k->what.also ? k->what.also[1] : k->what.name;
        g_ptr_array_add(f->functions, k);
    } else {
        k->by_address = g_hash_table_new(g_int64_hash, g_int64_equal);
    }
    return k;
}

/* A verdict of the function that no set in use has made, or a new one. With f->lock. */
static struct gt_select_filter_judged *find_judged(struct gt_select_filters *f,
                                                   struct gt_select_filter_known *k)
{
    struct gt_select_filter_judged *j = k->all;
    while (j && j->id && gt_select_filters_has(f, j->id))
        j = j->next;
    if (j)
        return j;
    j = gt_support_arena_take(&f->arena, sizeof *j);
    if (!j)
        abort(); /* as GLib does */
    j->of = k;
    j->next = k->all;
    k->all = j;
    return j;
}

/* Makes it the function's newest verdict. With f->lock. */
static void publish(struct gt_select_filter_known *k, struct gt_select_filter_judged *j)
{
    k->judged = j;
    if (k->fn)
        __atomic_store_n(&k->fn->known, j, __ATOMIC_RELEASE);
}

void gt_select_filters_know(struct gt_recorder *r, uint64_t addr,
                            const struct gt_support_module *module, struct gt_track_func *fn)
{
    unsigned number;
    const unsigned *level = NULL;
    bool levels = r->filters.levels;
    if (fn->known && (!levels || !(fn->flags & GT_FUNC_ANON)))
        return;
    if (levels && gt_select_level_read(r, &number))
        level = &number;
    pthread_mutex_lock(&r->filters.lock);
    struct gt_select_filter_judged *j = fn->known;
    struct gt_select_filter_known *k = j ? j->of : make_known(r, module, fn, level);
    if (!j) {
        k->fn = fn;
        publish(k, find_judged(&r->filters, k));
    }
    if (k->by_address && levels)
        find_address(r, k, addr, level);
    pthread_mutex_unlock(&r->filters.lock);
}

/* Threads may look at the verdict's id meanwhile, which is of no set that they have. */
static void judge(struct gt_select_filters *f, struct gt_select_filter_known *k,
                  const struct gt_select_filter_current *current)
{
    struct gt_select_filter_judged *j = find_judged(f, k);
    struct gt_elf_function_line line;
    if (k->fn && !k->by_address && gt_recorder_source_find(k->module, k->fn, &line)) {
        k->what.file = line.file;
        k->what.line = line.line;
        k->what.lines = line.all;
    }
    int status = gt_filter_verdict(current->set, &k->what, &j->verdict);
    if (status == GT_E_RANGE)
        gt_host_message("%s: more than 32 triggers for it have actions: they do nothing", k->shown);
    if (status < 0)
        j->verdict = (struct gt_filter_verdict){0};
    __atomic_store_n(&j->id, current->id, __ATOMIC_RELEASE);
    publish(k, j);
}

static struct gt_select_filter_judged **recent_at(struct gt_select_filters *f, uint64_t addr)
{
    return &f->recent[(addr ^ addr >> 12) / 2 % GT_FILTER_RECENT];
}

/* The newest verdict of an address in that code. NULL: it is not there. */
static const struct gt_select_filter_judged *
find_recent(struct gt_select_filters *f, const struct gt_select_filter_judged *whole,
            const struct gt_select_filter_current *current, uint64_t addr)
{
    const struct gt_select_filter_judged *j = __atomic_load_n(recent_at(f, addr), __ATOMIC_ACQUIRE);
    return j && gt_select_filter_judged_by(j, current) && j->of->what.address == addr && whole &&
                   j->of->whole == whole->of
               ? j
               : NULL;
}

/* A function is met for the first time, or by a new set; or code has no symbols. */
const struct gt_filter_verdict *
gt_select_filters_find(struct gt_recorder *r, const struct gt_select_filter_current *current,
                       const struct gt_track_func *fn, uint64_t addr)
{
    struct gt_select_filters *f = &r->filters;
    const struct gt_select_filter_judged *known = __atomic_load_n(&fn->known, __ATOMIC_ACQUIRE);
    const struct gt_select_filter_judged *recent = find_recent(f, known, current, addr);
    if (recent)
        return &recent->verdict;
    pthread_mutex_lock(&f->lock);
    if (!known && !f->unknown)
        f->unknown = make_known(r, NULL, NULL, NULL);
    struct gt_select_filter_known *k = known ? known->of : f->unknown;
    if (k->by_address)
        k = find_address(r, k, addr, NULL);
    if (!k->judged || k->judged->id != current->id)
        judge(f, k, current);
    struct gt_select_filter_judged *j = k->judged;
    if (k->whole)
        __atomic_store_n(recent_at(f, addr), j, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&f->lock);
    return &j->verdict;
}

bool gt_select_filters_reads(struct gt_recorder *r, const struct gt_code *code)
{
    if (!r->filters.reads)
        return false;
    struct gt_select_filter_current *current = gt_select_filters_take(&r->filters);
    bool reads = gt_filter_reads(gt_select_filters_verdict(r, current, code->fn, code->pc));
    gt_select_filters_release(current);
    return reads;
}

const char *gt_select_filters_name(const struct gt_filter_verdict *verdict)
{
    return ((const struct gt_select_filter_judged *)(const void *)verdict)->of->shown;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* A pattern that no function has matched, with the names nearest to it. */
static void report_pattern(struct gt_select_filters *f, const struct gt_filter_unused *unused)
{
    g_autofree char *wanted = gt_filter_nearest_wanted(unused->name);
    struct gt_filter_nearest near = {.wanted = wanted ? wanted : ""};
    pthread_mutex_lock(&f->lock);
    for (guint k = 0; f->functions && k < f->functions->len; k++)
        gt_filter_nearest_offer(&near,
                                ((struct gt_select_filter_known *)f->functions->pdata[k])->shown);
    pthread_mutex_unlock(&f->lock);
    g_autofree char *others = gt_filter_nearest_text(&near);
    gt_host_message("%s: %s matches no function that ran%s", unused->option, unused->text,
                    others ? others : "");
}

void gt_select_filters_report(struct gt_recorder *r)
{
    struct gt_select_filters *f = &r->filters;
    struct gt_select_filter_current *watching = gt_select_filters_take_watching(f);
    struct gt_filter_unused unused;
    bool lines = false;
    for (size_t i = 0; watching && gt_filter_set_unused(watching->set, i, &unused); i++) {
        lines |= unused.lines;
        if (unused.undecided)
            gt_host_message("%s: %s: for %" PRIu64 " names or texts the expression was too much, "
                            "they are taken as not matching; use a simpler one",
                            unused.option, unused.text, unused.undecided);
        else if (unused.value)
            gt_host_message("%s: %s: no call had a value '%s'", unused.option, unused.text,
                            unused.value);
        else if (unused.other)
            gt_host_message("%s: %s matches no %s that came before the end", unused.option,
                            unused.text, unused.other);
        else
            report_pattern(f, &unused);
    }
    gt_select_filters_release(watching);
    if (lines && r->guest.user)
        gt_recorder_source_report(r);
    if (r->totals.selected.valueless)
        gt_host_message(
            "%" PRIu64 " calls are recorded without their arguments: more than %d MB of "
            "them were open at once in a task",
            r->totals.selected.valueless, (int)(GT_FILTERED_VALUES_MOST * sizeof(uint64_t) >> 20));
}
