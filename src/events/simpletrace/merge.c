/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces that are read as one: see merge.h. */
#include "events/simpletrace/merge.h"
#include "base/file.h"
#include "events/library/read/simpletrace.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DECLARATIONS_MOST = 256 << 20 };

/* ---- which files --------------------------------------------------------------------------- */

static bool is_regular(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/* A regular file that begins with the file header's first word. */
static bool is_trace(const char *path)
{
    uint8_t head[GT_SIMPLETRACE_FILE_HEADER_SIZE];
    int fd = is_regular(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool yes = fd >= 0 && read(fd, head, sizeof head) == sizeof head;
    for (unsigned i = 0; i < 8; i++)
        yes = yes && head[i] == 0xff;
    if (fd >= 0)
        close(fd);
    return yes;
}

/* Appends a file's declarations, unchanged: an index moves by how many came before.
 */
static int add_declarations(struct gt_simpletrace_files *f, GString *all, const char *path,
                            struct gt_error *err)
{
    struct gt_trace_error why;
    struct gt_simpletrace_file *t = &f->trace[f->n];
    char *text;
    size_t size;
    if (gt_trace_declarations_read(&t->declared, path, &why) < 0)
        return gt_error_set(err, GT_E_FORMAT, "%s", why.text);
    int status = gt_file_read(path, DECLARATIONS_MOST, &text, &size, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < f->n; i++)
        t->first += gt_trace_declarations_count(f->trace[i].declared);
    g_string_append_len(all, text, (gssize)size);
    g_string_append_c(all, '\n');
    free(text);
    return 0;
}

static int add_all(struct gt_simpletrace_files *out, GString *all, const char *const *paths,
                   size_t n, struct gt_error *err)
{
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        bool alone = is_trace(paths[i]);
        g_autofree char *beside = g_strconcat(paths[i], GT_TRACE_DECLARATIONS, NULL);
        if (!alone && i + 1 == n)
            return gt_error_set(err, GT_E_USAGE, "takes an events file and a trace: EVENTS TRACE");
        if (alone && !is_regular(beside))
            return gt_error_set(err, GT_E_USAGE,
                                "%s is a trace without %s: give the file that declares its events "
                                "before it: EVENTS TRACE",
                                paths[i], beside);
        status = add_declarations(out, all, alone ? beside : paths[i], err);
        out->trace[out->n++].path = paths[alone ? i : ++i];
    }
    return status;
}

int gt_simpletrace_files_read(struct gt_simpletrace_files *out, const char *const *paths, size_t n,
                              struct gt_error *err)
{
    struct gt_trace_error why;
    *out = (struct gt_simpletrace_files){.trace = g_new0(struct gt_simpletrace_file, n + 1)};
    if (n == 0)
        return gt_error_set(err, GT_E_USAGE, "takes an events file and a trace: EVENTS TRACE");
    if (n == 2 && !is_trace(paths[0])) { /* the declarations may be no regular file */
        out->trace[out->n++].path = paths[1];
        return gt_trace_declarations_read(&out->declared, paths[0], &why) < 0
                   ? gt_error_set(err, GT_E_FORMAT, "%s", why.text)
                   : 0;
    }
    g_autoptr(GString) all = g_string_new(NULL);
    int status = add_all(out, all, paths, n, err);
    if (status == 0 &&
        gt_trace_declarations_parse(&out->declared, "declarations", all->str, all->len, &why) < 0)
        status = gt_error_set(err, GT_E_FORMAT, "%s", why.text);
    return status;
}

void gt_simpletrace_files_clear(struct gt_simpletrace_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        gt_trace_declarations_free(f->trace[i].declared);
    gt_trace_declarations_free(f->declared);
    g_free(f->trace);
}

/* ---- in order of time ---------------------------------------------------------------------- */

struct source {
    struct gt_trace_reader *reader;
    const struct gt_trace_record *next; /* NULL: the end */
};

struct gt_simpletrace_merge {
    struct source *source;
    size_t n;
    const struct gt_simpletrace_files *files;
    struct source *given;          /* whose record was given last; NULL: none was */
    struct gt_trace_record record; /* that one, of the declarations of all */
    bool begun;
};

int gt_simpletrace_merge_open(struct gt_simpletrace_merge **out,
                              const struct gt_simpletrace_files *files,
                              const struct gt_trace_reader_options *options, struct gt_error *err)
{
    struct gt_simpletrace_merge *m = g_new0(struct gt_simpletrace_merge, 1);
    struct gt_trace_error why;
    m->source = g_new0(struct source, files->n);
    m->files = files;
    *out = NULL;
    for (; m->n < files->n; m->n++) {
        const struct gt_simpletrace_file *f = &files->trace[m->n];
        if (gt_trace_reader_open(&m->source[m->n].reader, f->path,
                                 f->declared ? f->declared : files->declared, options, &why) < 0) {
            gt_simpletrace_merge_close(m);
            return gt_error_set(err, GT_E_FORMAT, "%s", why.text);
        }
    }
    *out = m;
    return 0;
}

void gt_simpletrace_merge_close(struct gt_simpletrace_merge *m)
{
    for (size_t i = 0; i < m->n; i++)
        gt_trace_reader_close(m->source[i].reader);
    g_free(m->source);
    g_free(m);
}

static void read_next(struct source *s, void (*report)(void *self, const char *message), void *self)
{
    struct gt_trace_error err;
    int status;
    while ((status = gt_trace_reader_next(s->reader, &s->next, &err)) < 0)
        report(self, err.text);
    if (status == 0)
        s->next = NULL;
}

/* The same record, of the declarations of all. */
static const struct gt_trace_record *of_all(struct gt_simpletrace_merge *m, const struct source *s)
{
    const struct gt_simpletrace_file *f = &m->files->trace[s - m->source];
    const struct gt_trace_declarations *all = m->files->declared;
    if (!f->declared)
        return s->next;
    size_t index = s->next->event->index;
    index = index < gt_trace_declarations_count(f->declared) ? f->first + index
                                                             : gt_trace_declarations_count(all);
    m->record = *s->next;
    m->record.event = gt_trace_declarations_at(all, index);
    return &m->record;
}

const struct gt_trace_record *
gt_simpletrace_merge_next(struct gt_simpletrace_merge *m,
                          void (*report)(void *self, const char *message), void *self)
{
    struct source *first = NULL;
    for (size_t i = 0; i < m->n && !m->begun; i++)
        read_next(&m->source[i], report, self);
    m->begun = true;
    if (m->given)
        read_next(m->given, report, self);
    for (size_t i = 0; i < m->n; i++) {
        struct source *s = &m->source[i];
        if (s->next && (!first || s->next->timestamp < first->next->timestamp))
            first = s;
    }
    m->given = first;
    return first ? of_all(m, first) : NULL;
}

uint64_t gt_simpletrace_merge_skipped(const struct gt_simpletrace_merge *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += gt_trace_reader_skipped(m->source[i].reader);
    return n;
}
