/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines of a recording's functions: see source.h. */
#include "calls/recorder/output/source.h"
#include "calls/recorder/recorder.h"
#include "qemu/support/code_modules.h"

#include <string.h>

/* ---- reading -------------------------------------------------------------------------------- */

static struct gt_elf_code_span *spans_of(const struct gt_elf_symbols *s)
{
    struct gt_elf_code_span *span = g_try_new(struct gt_elf_code_span, s->n_sym + 1);
    for (size_t i = 0; span && i < s->n_sym; i++) {
        const struct gt_elf_symbol *sym = &s->sym[i];
        uint64_t lo = sym->addr + s->load_base;
        span[i] = (struct gt_elf_code_span){lo, lo + sym->size, strstr(sym->name, ".cold") != NULL};
    }
    return span;
}

static void read_lines(struct gt_support_module *m)
{
    struct gt_elf_function_lines *lines = m->same ? m->same->lines : NULL;
    m->lines_read = true;
    if (m->symbols && m->symbols->n_sym && !(m->same && m->same->lines_read)) {
        g_autofree struct gt_elf_code_span *span = spans_of(m->symbols);
        if (span)
            gt_elf_function_lines_load(m->path, NULL, span, m->symbols->n_sym, &lines, NULL);
    }
    __atomic_store_n(&m->lines, lines, __ATOMIC_RELEASE);
}

int gt_recorder_source_put(struct gt_recorder *r, const struct gt_support_module *m,
                           struct gt_error *err)
{
    int status = 0;
    if (!m->lines)
        return 0;
    g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_dbg));
    for (size_t i = 0; i < m->lines->n; i++) {
        const struct gt_elf_symbol *s = &m->symbols->sym[i];
        const struct gt_elf_function_line *line = &m->lines->of[i];
        const struct gt_uftrace_dbg item[] = {
            {GT_UFTRACE_DBG_FUNC, s->addr, 0, s->name, NULL},
            {GT_UFTRACE_DBG_LINE, 0, line->line, line->file, line->all},
        };
        if (line->file)
            g_array_append_vals(items, item, 2);
    }
    const struct gt_uftrace_module module = {
        .path = m->path, .build_id = m->symbols->build_id[0] ? m->symbols->build_id : NULL};
    if (items->len)
        status = gt_uftrace_dir_put_debug(&r->output.dir, &module,
                                          (const struct gt_uftrace_dbg *)(const void *)items->data,
                                          items->len, err);
    return status;
}

int gt_recorder_source_add_module(struct gt_recorder *r, struct gt_support_module *m,
                                  struct gt_error *err)
{
    if (!r->options.srcline || m->lines_read)
        return 0;
    read_lines(m);
    return m->same && m->same->lines ? 0 : gt_recorder_source_put(r, m, err);
}

static void add_all(void *arg)
{
    struct gt_recorder *r = arg;
    for (guint i = 1; i < r->code.modules.all->len; i++)
        if (gt_recorder_source_add_module(r, r->code.modules.all->pdata[i], NULL) < 0)
            r->output.modules_failed = true;
}

int gt_recorder_source_begin(struct gt_recorder *r, struct gt_error *err)
{
    int status = 0;
    pthread_mutex_lock(&r->lock);
    if (!r->options.srcline) {
        r->options.srcline = true;
        status = gt_thread_worker_call(r->output.worker, add_all, r);
    }
    pthread_mutex_unlock(&r->lock);
    return status < 0 ? gt_error_set(err, status, "source lines cannot be read") : 0;
}

/* ---- look-ups ------------------------------------------------------------------------------- */

bool gt_recorder_source_find(const struct gt_support_module *m, const struct gt_track_func *fn,
                             struct gt_elf_function_line *out)
{
    if (m->recognised)
        return gt_support_code_module_source(m, fn, out);
    const struct gt_elf_function_lines *lines = __atomic_load_n(&m->lines, __ATOMIC_ACQUIRE);
    const struct gt_elf_symbol *s = lines ? gt_elf_symbols_find(m->symbols, fn->lo - m->lo) : NULL;
    if (!s || !lines->of[s - m->symbols->sym].file)
        return false;
    *out = lines->of[s - m->symbols->sym];
    return true;
}

void gt_recorder_source_report(const struct gt_recorder *r)
{
    enum { SHOWN = 4 };
    g_autoptr(GString) list = g_string_new(NULL);
    guint n = 0;
    for (guint i = 1; i < r->code.modules.all->len; i++) {
        const struct gt_support_module *m = r->code.modules.all->pdata[i];
        if (m->lines || m->gone || m->made || (m->same && m->same->lines_read))
            continue;
        if (n++ < SHOWN)
            g_string_append_printf(list, "%s%s", n > 1 ? ", " : "", m->path);
    }
    if (n > SHOWN)
        g_string_append_printf(list, " and %u others", n - SHOWN);
    if (n)
        gt_host_message("no lines known for %s: compile with -g, or install the debug symbols "
                        "(below /usr/lib/debug, or beside the file)",
                        list->str);
}
