/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: instructions at the places of events are instrumented. See recorder.h. */
#include "events/plugin/recorder.h"
#include "qemu/support/code_modules.h"
#include "qemu/support/exec_calls.h"

#include <string.h>

enum { INSN_BYTES = 16 };

/* ---- which functions have events ----------------------------------------------------------- */

static void add_named(struct gt_points *p, GPtrArray **all, const char *name,
                      const struct gt_support_module *m, const struct gt_track_func *fn)
{
    const GPtrArray *named = g_hash_table_lookup(p->names, name);
    const struct gt_filter_function what = {.name = name,
                                            .module = m->path,
                                            .address = fn->lo,
                                            .file_address = fn->lo - m->lo,
                                            .size = fn->hi - fn->lo,
                                            .kernel = !p->user && fn->lo >> 63};
    for (guint i = 0; named && i < named->len; i++) {
        struct gt_point *point = named->pdata[i];
        if (!gt_filter_pattern_match(point->pattern, &what))
            continue;
        if (!*all)
            *all = g_ptr_array_new();
        g_ptr_array_add(*all, point);
        gt_points_know(p, point);
        if (what.kernel)
            __atomic_store_n(&point->in_kernel, true, __ATOMIC_RELAXED);
    }
}

/* A function of a file has all of its names. */
static void add_symbols(struct gt_points *p, GPtrArray **all, const struct gt_support_module *m,
                        const struct gt_track_func *fn)
{
    uint64_t rel = fn->lo - m->lo;
    const struct gt_elf_symbols *s = m->symbols;
    const struct gt_elf_symbol *symbol = s ? gt_elf_symbols_find(s, rel) : NULL;
    if (!symbol || symbol->type == 'P' || symbol->addr != rel)
        return;
    add_named(p, all, symbol->name, m, fn);
    for (size_t i = 0; i < s->n_alias; i++)
        if (s->alias[i].addr == rel)
            add_named(p, all, s->alias[i].name, m, fn);
}

/* The events of a function; NULL: it has none. */
static const GPtrArray *points_of(struct gt_points *p, const struct gt_support_module *m,
                                  const struct gt_track_func *fn)
{
    gpointer known;
    if (fn->flags & GT_FUNC_ANON)
        return NULL;
    if (g_hash_table_lookup_extended(p->functions, fn, NULL, &known))
        return known;
    GPtrArray *all = NULL;
    const char *name = m->recognised ? gt_support_code_module_name(m, fn) : NULL;
    if (name)
        add_named(p, &all, name, m, fn);
    else if (!m->recognised)
        add_symbols(p, &all, m, fn);
    g_hash_table_insert(p->functions, (gpointer)fn, all);
    return all;
}

/* ---- instrumentation ----------------------------------------------------------------------- */

static void instrument(struct gt_points *p, struct gt_host_insn *insn, struct gt_point *point)
{
    const struct gt_host_scoreboard_entry word = {p->states.scoreboard,
                                                  point->index * sizeof(uint64_t)};
    if (p->states.no_words)
        gt_host_insn_on_exec_regs(insn, gt_points_on_event, point);
    else
        gt_host_insn_on_exec_ne(insn, gt_points_on_event, word, 0, point);
}

static bool is_return(const struct gt_points *p, const struct gt_host_insn *ref)
{
    uint8_t bytes[INSN_BYTES];
    struct gt_arch_insn insn;
    size_t n = gt_host_insn_bytes(ref, bytes, sizeof bytes);
    p->arch->classify(bytes, n, gt_host_insn_pc(ref), &insn);
    return insn.kind == GT_INSN_RETURN;
}

static void instrument_function(struct gt_points *p, const GPtrArray *points,
                                const struct gt_track_func *fn, struct gt_host_insn *insn,
                                bool is_last)
{
    uint64_t pc = gt_host_insn_pc(insn);
    for (guint i = 0; i < points->len; i++) {
        struct gt_point *point = points->pdata[i];
        if ((point->kind == GT_POINT_ENTRY && pc == fn->lo) ||
            (point->kind == GT_POINT_INSIDE && pc == fn->lo + point->address) ||
            (point->kind == GT_POINT_RETURN && is_last && is_return(p, insn)))
            instrument(p, insn, point);
    }
}

static void instrument_address(struct gt_points *p, struct gt_host_insn *insn)
{
    uint64_t pc = gt_host_insn_pc(insn);
    const GPtrArray *points = g_hash_table_lookup(p->addresses, &pc);
    for (guint i = 0; points && i < points->len; i++) {
        struct gt_point *point = points->pdata[i];
        gt_points_know(p, point);
        __atomic_store_n(&point->in_kernel, !p->user && pc >> 63, __ATOMIC_RELAXED);
        instrument(p, insn, point);
    }
}

static void translate(struct gt_points *p, struct gt_host_block *block)
{
    size_t n = gt_host_block_insns(block);
    bool addresses = g_hash_table_size(p->addresses) > 0;
    struct gt_host_insn *first = gt_host_block_insn(block, 0);
    const struct gt_support_module *m =
        gt_support_modules_at(&p->modules, gt_host_insn_pc(first), gt_host_insn_host_addr(first));
    const struct gt_track_func *fn = NULL;
    const GPtrArray *points = NULL;
    for (size_t i = 0; i < n; i++) {
        struct gt_host_insn *insn = gt_host_block_insn(block, i);
        uint64_t pc = gt_host_insn_pc(insn);
        if (!fn || pc >= fn->hi || pc < fn->lo) {
            fn = gt_support_module_func(m, pc);
            points = points_of(p, m, fn);
        }
        if (points)
            instrument_function(p, points, fn, insn, i + 1 == n);
        if (addresses)
            instrument_address(p, insn);
    }
}

void gt_points_on_translate(void *self, struct gt_host_block *block)
{
    struct gt_points *p = self;
    if (!gt_host_block_insns(block))
        return;
    pthread_mutex_lock(&p->lock);
    if (p->user && !p->modules.program) /* QEMU does not know it before */
        p->modules.program = gt_host_program();
    gt_exec_calls_translated(block);
    translate(p, block);
    pthread_mutex_unlock(&p->lock);
}
