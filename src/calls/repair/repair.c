/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairs a recording after a kill: see repair.h. */
#include "calls/repair/repair.h"

#include "base/file.h"
#include "calls/file/mend.h"
#include "guest/elf/symbols.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

static void report(void *self, const char *file, const char *what)
{
    g_ptr_array_add(((struct gt_repair_result *)self)->texts,
                    g_strdup_printf("%s: %s", file, what));
}

/* As the plugin writes them, but for functions that have no name in the program. */
static bool put_symbols(void *self, const struct gt_uftrace_dir *d,
                        const struct gt_uftrace_module *m)
{
    struct gt_elf_symbols *from;
    (void)self;
    if (!m->build_id || !*m->build_id || gt_elf_symbols_load(m->path, &from, NULL) < 0)
        return false;
    g_autofree struct gt_uftrace_symbol *sym = g_new0(struct gt_uftrace_symbol, from->n_sym + 1);
    for (size_t i = 0; i < from->n_sym; i++) {
        const struct gt_elf_symbol *s = &from->sym[i];
        sym[i] =
            (struct gt_uftrace_symbol){s->addr, s->size, s->name, s->type == 'e' ? 't' : s->type};
    }
    bool done = strcmp(from->build_id, m->build_id) == 0 &&
                gt_uftrace_dir_put_symbols(d, m, sym, from->n_sym, NULL) == 0;
    gt_elf_symbols_free(from);
    return done;
}

static int repair(const struct gt_recording_records *at, struct gt_uftrace_repair_options *opt,
                  const struct gt_error_notices *notices, struct gt_uftrace_repair_stats *stats,
                  struct gt_error *err)
{
    struct gt_compact_mend *mend;
    struct gt_error damage, why = {0};
    if (!at->file)
        return gt_uftrace_dir_repair(at->dir, opt, stats, err);
    int status = gt_compact_mend_open(at->file, at->dir, 0, notices, &mend, &damage, err);
    if (status < 0)
        return status;
    const struct gt_uftrace_repair_records records = gt_compact_mend_records(mend);
    opt->records = &records;
    status = gt_uftrace_dir_repair(at->dir, opt, stats, err);
    int written = gt_compact_mend_close(mend, &why);
    if (status < 0 || (!damage.status && written == 0))
        return status;
    const struct gt_error *first = damage.status ? &damage : &why;
    return gt_error_set(err, first->status, "%s", first->text);
}

int gt_repair_recording(const struct gt_repair_edit *edit, bool names,
                        const struct gt_error_notices *notices, struct gt_repair_result *done,
                        struct gt_error *err)
{
    *done = (struct gt_repair_result){.texts = g_ptr_array_new_with_free_func(g_free)};
    struct gt_uftrace_repair_options opt = {
        .names = names, .report = report, .symbols = put_symbols, .self = done};
    struct gt_error second = {0};
    int64_t recovered =
        edit->at.file ? gt_compact_work_recover(&edit->work, &done->missing, err)
                      : gt_streams_recover_packed(edit->at.dir, NULL, NULL, &done->missing, err);
    int repaired = repair(&edit->at, &opt, notices, &done->repair, recovered < 0 ? &second : err);
    int removed = gt_file_remove_left(edit->at.dir, recovered < 0 || repaired < 0 ? &second : err);
    if (recovered < 0)
        return (int)recovered;
    done->recovered = recovered;
    return repaired < 0 ? repaired : removed;
}

void gt_repair_clear(struct gt_repair_result *done)
{
    if (done->texts)
        g_ptr_array_unref(done->texts);
    *done = (struct gt_repair_result){0};
}

static bool is_changed(const struct gt_repair_result *done)
{
    const struct gt_uftrace_repair_stats *r = &done->repair;
    return done->recovered || done->missing.pools || r->cut || r->closed || r->events || r->texts;
}

static void append_missing(GString *s, const struct gt_streams_missing *m)
{
    if (!m->pools)
        return;
    g_string_append(s, "; the newest records may be missing: a part of them was in memory only");
    if (m->records)
        g_string_append_printf(s, ", and %" PRIu64 " that followed it were left out", m->records);
}

char *gt_repair_text(const struct gt_repair_result *done)
{
    const struct gt_uftrace_repair_stats *r = &done->repair;
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%" PRIu64 " task file%s, %" PRIu64 " records", r->files,
                           r->files == 1 ? "" : "s", r->records);
    if (!is_changed(done)) {
        g_string_append(s, ", nothing to repair");
        return g_string_free(s, FALSE);
    }
    const char *separator = ": ";
    if (done->recovered) {
        g_string_append_printf(s, "%s%" PRId64 " records recovered", separator, done->recovered);
        separator = ", ";
    }
    if (r->cut) {
        g_string_append_printf(s, "%s%" PRIu64 " bytes of incomplete records cut off", separator,
                               r->cut);
        separator = ", ";
    }
    if (r->closed) {
        g_string_append_printf(s, "%s%" PRIu64 " running functions ended", separator, r->closed);
        separator = ", ";
    }
    if (r->events) {
        g_string_append_printf(s, "%s%" PRIu64 " losses marked", separator, r->events);
        separator = ", ";
    }
    if (r->texts)
        g_string_append_printf(s, "%s%" PRIu64 " text file%s repaired", separator, r->texts,
                               r->texts == 1 ? "" : "s");
    append_missing(s, &done->missing);
    return g_string_free(s, FALSE);
}
