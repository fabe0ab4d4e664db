/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens recordings: see calls.h. */
#include "calls/read/recording.h"

#include "calls/file/set.h"
#include "calls/read/forks.h"
#include "calls/read/task_names.h"
#include "recording/file_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- info ---------------------------------------------------------------------------------- */

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

/* A recording that was killed may have no info yet. */
static int read_info(struct gt_calls *c, struct gt_error *err)
{
    char *data;
    size_t size;
    struct gt_error why = {0};
    if (!gt_calls_texts_have(&c->texts, "info")) {
        c->facts.incomplete = true;
        gt_error_notice(gt_calls_notices_at_end(c), "%s: there is no info; run guesttrace repair",
                        c->path);
        c->info.feat_mask = GT_UFTRACE_FEAT_MIN;
        return 0;
    }
    int status = gt_calls_texts_read(&c->texts, "info", &data, &size, err);
    if (status < 0)
        return status;
    status = gt_uftrace_info_read(data, size, &c->info, &why);
    free(data);
    if (status < 0) {
        g_autofree char *place = gt_calls_texts_place(&c->texts, "info");
        return gt_error_set(err, status == GT_E_TRUNC ? GT_E_FORMAT : status, "%s: %s", place,
                            why.text);
    }
    return 0;
}

static void take_facts(struct gt_calls *c)
{
    const struct gt_uftrace_info *i = &c->info;
    struct gt_calls_facts *f = &c->facts;
    f->path = c->path;
    f->major = GT_COMPACT_MAJOR; /* others are refused */
    f->minor = c->file.minor;
    f->command = text_or_none(i->cmdline);
    f->exename = text_or_none(i->exename);
    f->version = text_or_none(i->version);
    f->cpu = text_or_none(i->cpu_desc);
    f->host = text_or_none(i->os_hostname);
    f->has_exit_status = i->has_exit_status;
    f->exit_status = i->exit_status;
}

/* ---- size ---------------------------------------------------------------------------------- */

static void count_bytes(struct gt_calls *c)
{
    struct stat st;
    if (c->facts.form == GT_CALLS_COMPACT)
        c->facts.bytes = c->file.size;
    if (gt_calls_is_file(c))
        return;
    for (guint i = 0; i < c->texts.names->len; i++) {
        g_autofree char *path = g_build_filename(c->path, c->texts.names->pdata[i], NULL);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            c->facts.bytes += (uint64_t)st.st_size;
    }
}

static void report_gaps(struct gt_calls *c)
{
    for (size_t i = 0; i < c->file.n_gaps; i++) {
        const struct gt_compact_gap *g = &c->file.gap[i];
        uint64_t at;
        const char *path = gt_compact_file_place(&c->file, g->at, &at);
        c->facts.incomplete = true;
        if (c->written && g->at + g->size >= c->file.size)
            continue;
        gt_error_notice(&c->notices, GT_COMPACT_GAP_NOTICE, path, at, g->size);
    }
}

/* Parts before the first are missing where they were removed, too: the cause is not known. */
static void report_missing(struct gt_calls *c, uint32_t from, uint32_t to)
{
    bool removed = from == 1 && c->file.part.limit;
    g_autofree char *which = from == to ? g_strdup_printf("part %u is", from)
                                        : g_strdup_printf("parts %u to %u are", from, to);
    if (!removed)
        c->facts.incomplete = true;
    gt_error_notice(gt_calls_notices_at_end(c), "%s: %s %s", c->path, which,
                    removed ? "removed: the recording kept to its size limit"
                            : "missing: calls in it are left out");
}

static void report_parts(struct gt_calls *c)
{
    uint32_t next = 1;
    for (size_t i = 0; i < c->file.n_members; i++) {
        uint32_t number = c->file.member[i].number;
        if (number > next)
            report_missing(c, next, number - 1);
        next = number + 1;
    }
    if (c->file.n_members && strcmp(c->file.member[c->file.n_members - 1].path, c->path) != 0) {
        c->facts.incomplete = true;
        gt_error_notice(
            gt_calls_notices_at_end(c),
            "%s: the newest part is missing: its calls are left out, and names may be; run "
            "guesttrace repair",
            c->path);
    }
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Texts, once it is known where they are. */
static int read_texts(struct gt_calls *c, struct gt_error *err)
{
    const struct gt_compact_file *file = gt_calls_is_file(c) ? &c->file : NULL;
    int status = gt_calls_texts_open(&c->texts, c->path, file, &c->notices, err);
    if (c->texts.beside) {
        c->facts.incomplete = true;
        gt_error_notice(
            gt_calls_notices_at_end(c),
            "%s: it is being recorded, or was interrupted: calls that are not in it yet are "
            "left out",
            c->path);
    }
    if (status == 0 && !gt_calls_texts_have(&c->texts, "task.txt"))
        status = gt_error_set(err, GT_E_FORMAT, "%s: %s", c->path,
                              file ? "it is cut: the block with its list of tasks is missing"
                                   : "not a recording of calls: it has no task.txt");
    if (status == 0)
        status = read_info(c, err);
    if (status < 0)
        return status;
    take_facts(c);
    bool relative = c->info.feat_mask & GT_UFTRACE_FEAT_SYM_REL_ADDR;
    c->spaces = gt_calls_spaces_create(&c->texts, relative, gt_calls_notices_at_end(c));
    status = gt_calls_tasks_read(&c->tasks, &c->texts, c->spaces, c->info.tids, c->info.n_tids,
                                 gt_calls_notices_at_end(c), err);
    gt_calls_spaces_number(c->spaces);
    if (status == 0)
        status = gt_calls_marks_read(c, err);
    if (status == 0)
        status = gt_calls_events_read(c, err);
    return status < 0 ? status : gt_calls_specs_read(c, err);
}

static int open_made(struct gt_calls *c, int fd, struct gt_error *err)
{
    struct stat st;
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    int status = gt_compact_file_open(path, &c->file, err);
    c->facts.form = GT_CALLS_ETRACE;
    c->facts.bytes = stat(c->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    return status;
}

static int open_file(struct gt_calls *c, const struct gt_calls_options *o, struct gt_error *err)
{
    struct stat st;
    if (o->of_etrace)
        return open_made(c, *o->of_etrace, err);
    c->facts.form =
        stat(c->path, &st) == 0 && S_ISDIR(st.st_mode) ? GT_CALLS_DIRECTORY : GT_CALLS_COMPACT;
    if (c->facts.form == GT_CALLS_DIRECTORY)
        return 0;
    int status = gt_compact_set_open(c->path, &c->file, err);
    if (status < 0)
        return status == GT_E_FORMAT ? gt_recording_kind_refuse(c->path, GT_FILE_IS(GT_FILE_CALLS),
                                                                "a recording of calls", err)
                                     : status;
    report_parts(c);
    report_gaps(c);
    return 0;
}

static void name_units(struct gt_calls *c)
{
    for (guint i = 0; i < c->tasks.task->len; i++) {
        struct gt_calls_tasks_task *t = c->tasks.task->pdata[i];
        g_autofree char *name = g_strdup_printf("CPU %u", t->public.id - 1);
        g_array_set_size(t->names, 0);
        gt_calls_task_names_add_program(&c->tasks, t, t->public.start, name);
    }
}

static int open_at(struct gt_calls *c, const struct gt_calls_options *o, struct gt_error *err)
{
    int status = open_file(c, o, err);
    if (status < 0)
        return status;
    status = read_texts(c, err);
    if (status == 0)
        status = gt_calls_is_file(c) ? gt_calls_rows_of_file(c, err)
                                     : gt_calls_rows_of_directory(c, err);
    if (status < 0)
        return status;
    count_bytes(c);
    for (guint i = 0; i < c->tasks.task->len; i++)
        if (gt_calls_tasks_at(&c->tasks, i)->parent)
            c->inherited = gt_calls_forks_inherited;
    if (c->facts.form == GT_CALLS_ETRACE)
        name_units(c);
    gt_calls_tasks_ready(&c->tasks);
    return 0;
}

static void put_notice(void *self, const char *line)
{
    struct gt_calls *c = self;
    if (!c->told.put)
        return;
    pthread_mutex_lock(&c->notices_lock);
    c->told.put(c->told.self, line);
    pthread_mutex_unlock(&c->notices_lock);
}

int gt_calls_open(const char *path, const struct gt_calls_options *o, struct gt_calls **out,
                  struct gt_error *err)
{
    struct gt_calls *c = g_new0(struct gt_calls, 1);
    *out = NULL;
    c->path = g_strdup(path);
    c->file.fd = -1;
    c->rows = g_array_new(FALSE, FALSE, sizeof(struct gt_calls_row));
    c->parts = g_array_new(FALSE, FALSE, sizeof(struct gt_calls_part));
    c->forks = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    pthread_mutex_init(&c->forks_lock, NULL);
    pthread_mutex_init(&c->notices_lock, NULL);
    c->notices = (struct gt_error_notices){put_notice, c};
    if (o) {
        c->told = o->notices;
        c->written = o->written;
    }
    int status = open_at(c, o ? o : &(struct gt_calls_options){0}, err);
    if (status < 0) {
        gt_calls_close(c);
        return status;
    }
    *out = c;
    return 0;
}

void gt_calls_close(struct gt_calls *c)
{
    if (!c)
        return;
    gt_calls_spaces_destroy(c->spaces);
    gt_calls_tasks_finish(&c->tasks);
    gt_calls_texts_close(&c->texts);
    gt_uftrace_info_free(&c->info);
    if (c->file.path)
        gt_compact_file_close(&c->file);
    if (c->marks)
        g_array_free(c->marks, TRUE);
    gt_values_free(&c->values);
    if (c->events)
        g_hash_table_destroy(c->events);
    g_hash_table_destroy(c->forks);
    pthread_mutex_destroy(&c->forks_lock);
    pthread_mutex_destroy(&c->notices_lock);
    free(c->marks_text);
    free(c->block);
    g_array_free(c->rows, TRUE);
    g_array_free(c->parts, TRUE);
    g_free(c->path);
    g_free(c);
}

/* ---- what it has --------------------------------------------------------------------------- */

size_t gt_calls_n_tasks(const struct gt_calls *c)
{
    return c->tasks.task->len;
}

bool gt_calls_is_open(const struct gt_calls *c, const struct gt_call *e)
{
    const unsigned open = GT_CALL_UNFINISHED | GT_CALL_OPEN;
    if (e->kind != GT_CALL_EXIT || e->flags & (open | GT_CALL_CLIPPED))
        return e->kind == GT_CALL_EXIT && e->flags & open;
    /* A suspended task's calls end with what suspends it. */
    const uint32_t depth = e->depth - (gt_call_suspends(e->function) && e->depth > 0);
    return gt_calls_task_names_ended(gt_calls_tasks_at(&c->tasks, e->task), e->time, depth);
}

uint64_t gt_calls_first_end(const struct gt_calls *c, uint32_t task)
{
    const GArray *ends = gt_calls_tasks_at(&c->tasks, task)->ends;
    return ends ? g_array_index(ends, struct gt_calls_tasks_end, 0).time : UINT64_MAX;
}

bool gt_calls_gave(const struct gt_calls *c)
{
    return c->gave;
}

const struct gt_calls_task *gt_calls_task(const struct gt_calls *c, uint32_t index)
{
    return &((const struct gt_calls_tasks_task *)c->tasks.task->pdata[index])->public;
}

size_t gt_calls_n_processes(const struct gt_calls *c)
{
    return c->tasks.process->len;
}

const struct gt_calls_process *gt_calls_process(const struct gt_calls *c, uint32_t index)
{
    return &g_array_index(c->tasks.process, struct gt_calls_process, index);
}

size_t gt_calls_n_functions(const struct gt_calls *c)
{
    return gt_calls_spaces_n_functions(c->spaces);
}

const struct gt_calls_function *gt_calls_function(const struct gt_calls *c, uint32_t index)
{
    return gt_calls_spaces_function(c->spaces, index);
}

const struct gt_calls_mark *gt_calls_marks(const struct gt_calls *c, size_t *n)
{
    *n = c->marks->len;
    return (const struct gt_calls_mark *)(const void *)c->marks->data;
}

const struct gt_calls_mark *gt_calls_marks_in(const struct gt_calls *c,
                                              const struct gt_calls_window *w, size_t *n)
{
    size_t all;
    const struct gt_calls_mark *first = gt_calls_marks(c, &all), *end = first + all;
    while (w && first < end && first->time < w->from)
        first++;
    while (w && w->to && first < end && end[-1].time > w->to)
        end--;
    *n = (size_t)(end - first);
    return first;
}

const char *gt_calls_event_name(const struct gt_calls *c, uint32_t id)
{
    static const struct {
        uint32_t id;
        const char *name;
    } known[] = {
        {GT_UFTRACE_EV_PMU_CYCLE_BEGIN, "read:pmu-cycle"},
        {GT_UFTRACE_EV_PMU_CYCLE_END, "diff:pmu-cycle"},
        {GT_UFTRACE_EV_WATCH_CPU, "watch:cpu"},
        {GT_UFTRACE_EV_SCHED_IN, "linux:sched-in"},
        {GT_UFTRACE_EV_SCHED_OUT, "linux:sched-out"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (known[i].id == id)
            return known[i].name;
    return g_hash_table_lookup(c->events, GSIZE_TO_POINTER((size_t)id));
}

const struct gt_calls_facts *gt_calls_facts(const struct gt_calls *c)
{
    return &c->facts;
}

char *gt_calls_text(const struct gt_calls *c, const char *name, size_t *size)
{
    char *data;
    return gt_calls_texts_read(&c->texts, name, &data, size, NULL) < 0 ? NULL : data;
}
