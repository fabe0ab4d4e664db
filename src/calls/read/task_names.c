/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about tasks from other files than task.txt: see task_names.h. */
#include "calls/read/task_names.h"

#include "calls/read/perf_file.h"
#include "recording/texts/files.h"
#include "recording/texts/guest_tasks.h"
#include "recording/texts/open_calls.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 15 }; /* bytes of a name that are kept */

/* A name from a time on, at most 15 bytes of it; one that the task has already changes nothing. */
static void add_name(const struct gt_calls_tasks *t, struct gt_calls_tasks_task *task,
                     uint64_t time, const char *name)
{
    char kept[NAME + 1];
    GArray *names = task->names;
    g_strlcpy(kept, name, sizeof kept);
    if (names->len > 0 &&
        strcmp(g_array_index(names, struct gt_calls_name, names->len - 1).name, kept) == 0)
        return;
    const struct gt_calls_name new = {time, g_string_chunk_insert_const(t->texts, kept)};
    g_array_append_val(names, new);
}

static void take_perf(void *self, const struct gt_calls_perf_record *r)
{
    struct gt_calls_tasks *t = self;
    uint32_t index = gt_calls_tasks_find(t, r->tid);
    if (index == UINT32_MAX)
        return;
    struct gt_calls_tasks_task *task = t->task->pdata[index];
    const struct gt_calls_tasks_switch s = {r->time, r->out, r->preempted};
    if (r->name) {
        add_name(t, task, r->time, r->name);
        return;
    }
    if (!task->switches)
        task->switches = g_array_new(FALSE, FALSE, sizeof s);
    g_array_append_val(task->switches, s);
}

/* A thread of a Linux guest. Its names are in perf-cpuN.dat as well, with their times. */
static void take_guest(struct gt_calls_tasks *t, const char *line)
{
    struct gt_recording_guest_task g;
    uint32_t index =
        gt_recording_guest_task_parse(line, &g) ? gt_calls_tasks_find(t, g.task) : UINT32_MAX;
    if (index == UINT32_MAX)
        return;
    struct gt_calls_tasks_task *task = t->task->pdata[index];
    task->public.guest_pid = g.pid;
    task->public.guest_tgid = g.tgid;
}

static void read_guests(struct gt_calls_tasks *t)
{
    char *text, *at = NULL;
    size_t size;
    if (gt_calls_texts_read(t->files, GT_GUEST_TASKS_FILE, &text, &size, NULL) < 0)
        return;
    for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
        take_guest(t, line);
    free(text);
}

static void take_end(void *self, const struct gt_recording_open_calls_line *line)
{
    struct gt_calls_tasks *t = self;
    const struct gt_calls_tasks_end end = {line->time, line->depth};
    const uint32_t index = gt_calls_tasks_find(t, line->task);
    if (index == UINT32_MAX)
        return;
    struct gt_calls_tasks_task *task = t->task->pdata[index];
    if (!task->ends)
        task->ends = g_array_new(FALSE, FALSE, sizeof end);
    g_array_append_val(task->ends, end);
}

static void read_ends(struct gt_calls_tasks *t)
{
    char *text;
    size_t size;
    if (gt_calls_texts_read(t->files, GT_OPEN_CALLS_FILE, &text, &size, NULL) < 0)
        return;
    gt_recording_open_calls_parse(text, take_end, t);
    free(text);
}

int gt_calls_task_names_read(struct gt_calls_tasks *t, struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; i < t->files->names->len && status == 0; i++) {
        const char *name = t->files->names->pdata[i];
        char *data;
        size_t size;
        if (!g_str_has_prefix(name, "perf-cpu") || !g_str_has_suffix(name, ".dat"))
            continue;
        status = gt_calls_texts_read(t->files, name, &data, &size, err);
        if (status == 0) {
            gt_calls_perf_read(data, size, take_perf, t);
            free(data);
        }
    }
    if (status == 0) {
        read_guests(t);
        read_ends(t);
    }
    return status;
}

void gt_calls_task_names_add_program(struct gt_calls_tasks *t, struct gt_calls_tasks_task *task,
                                     uint64_t time, const char *exename)
{
    const char *slash = strrchr(exename, '/');
    add_name(t, task, time, slash ? slash + 1 : exename);
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    const struct gt_calls_name *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static gint compare_switches(gconstpointer a, gconstpointer b)
{
    const struct gt_calls_tasks_switch *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static int compare_ends(const void *a, const void *b)
{
    const struct gt_calls_tasks_end *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* The first end that is above it says so. */
bool gt_calls_task_names_ended(const struct gt_calls_tasks_task *t, uint64_t time, uint32_t depth)
{
    size_t first = 0, n = t->ends ? t->ends->len : 0;
    const struct gt_calls_tasks_end *end = t->ends ? (const void *)t->ends->data : NULL;
    const struct gt_calls_tasks_end least = {time, depth < UINT32_MAX ? depth + 1 : depth};
    for (size_t left = n; left > 0;) {
        const size_t half = left / 2;
        const bool below = compare_ends(&end[first + half], &least) < 0;
        first += below ? half + 1 : 0;
        left = below ? left - half - 1 : half;
    }
    return first < n && end[first].time == time;
}

void gt_calls_task_names_order(struct gt_calls_tasks_task *task)
{
    g_array_sort(task->names, compare_names);
    if (task->ends)
        g_array_sort(task->ends, compare_ends);
    if (task->switches)
        g_array_sort(task->switches, compare_switches);
}
