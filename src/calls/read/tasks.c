/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks of a recording: see tasks.h. A session belongs to a process from its line on. A TASK or
 * FORK line gives the task the session that its process (a child's: its parent) has at that time,
 * so an exec is a second line of both.
 */
#include "calls/read/tasks.h"

#include "base/cursor.h"
#include "calls/read/task_names.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <string.h>

struct session {
    uint64_t time;
    size_t before; /* the process's session before it, from 1; 0: none */
    size_t map;
    const char *exename;
};

enum { SESSIONS_BACK = 64 }; /* of a process that are looked at: lines are in order of time */

struct reader {
    struct gt_calls_tasks *tasks;
    struct gt_calls_spaces *spaces;
    GArray *sessions;   /* struct session, in the order of the lines */
    GHashTable *by_pid; /* the last session's number of a process, from 1 */
    struct gt_error *err;
};

static void free_task(gpointer data)
{
    struct gt_calls_tasks_task *t = data;
    g_array_free(t->names, TRUE);
    if (t->switches)
        g_array_free(t->switches, TRUE);
    if (t->ends)
        g_array_free(t->ends, TRUE);
    g_array_free(t->epochs, TRUE);
    g_free(t);
}

void gt_calls_tasks_finish(struct gt_calls_tasks *t)
{
    if (!t->task)
        return;
    g_ptr_array_free(t->task, TRUE);
    g_hash_table_destroy(t->by_id);
    g_array_free(t->process, TRUE);
    g_hash_table_destroy(t->by_pid);
    g_string_chunk_free(t->texts);
}

/* ---- tasks and processes ------------------------------------------------------------------- */

static struct gt_calls_process *process_of(struct gt_calls_tasks *t, uint32_t pid, uint32_t *index)
{
    size_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(t->by_pid, GUINT_TO_POINTER(pid)));
    if (!number) {
        const struct gt_calls_process new = {pid, "", UINT64_MAX};
        g_array_append_val(t->process, new);
        number = t->process->len;
        g_hash_table_insert(t->by_pid, GUINT_TO_POINTER(pid), GSIZE_TO_POINTER(number));
    }
    *index = (uint32_t)number - 1;
    return &g_array_index(t->process, struct gt_calls_process, *index);
}

uint32_t gt_calls_tasks_add(struct gt_calls_tasks *t, uint32_t id)
{
    uint32_t index = gt_calls_tasks_find(t, id);
    if (index != UINT32_MAX)
        return index;
    struct gt_calls_tasks_task *task = g_new0(struct gt_calls_tasks_task, 1);
    task->public = (struct gt_calls_task){.id = id, .process = UINT32_MAX, .name = ""};
    task->names = g_array_new(FALSE, FALSE, sizeof(struct gt_calls_name));
    task->epochs = g_array_new(FALSE, FALSE, sizeof(struct gt_calls_tasks_epoch));
    g_ptr_array_add(t->task, task);
    g_hash_table_insert(t->by_id, GUINT_TO_POINTER(id), GSIZE_TO_POINTER((size_t)t->task->len));
    return t->task->len - 1;
}

/* ---- lines of task.txt --------------------------------------------------------------------- */

static int take_session(struct reader *r, const struct gt_uftrace_task *line)
{
    uint32_t index;
    int64_t map = gt_calls_spaces_add_map(r->spaces, line->sid, r->err);
    if (map < 0)
        return (int)map;
    struct gt_calls_process *p = process_of(r->tasks, line->pid, &index);
    p->exename = g_string_chunk_insert_const(r->tasks->texts, line->path);
    p->start = MIN(p->start, line->time);
    gpointer before = g_hash_table_lookup(r->by_pid, GUINT_TO_POINTER(line->pid));
    const struct session s = {line->time, GPOINTER_TO_SIZE(before), (size_t)map, p->exename};
    g_array_append_val(r->sessions, s);
    g_hash_table_insert(r->by_pid, GUINT_TO_POINTER(line->pid),
                        GSIZE_TO_POINTER((size_t)r->sessions->len));
    return 0;
}

/* The process's last session that is not later. */
static const struct session *session_of(const struct reader *r, uint32_t pid, uint64_t time)
{
    size_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(r->by_pid, GUINT_TO_POINTER(pid)));
    for (int i = 0; number > 0 && i < SESSIONS_BACK; i++) {
        const struct session *s = &g_array_index(r->sessions, struct session, number - 1);
        if (s->time <= time)
            return s;
        number = s->before;
    }
    return NULL;
}

/* What a task has from a time on; lines may repeat. */
static void add_epoch(struct gt_calls_tasks_task *t, uint64_t time, size_t map)
{
    const struct gt_calls_tasks_epoch e = {time, map};
    if (t->epochs->len > 0) {
        struct gt_calls_tasks_epoch *last =
            &g_array_index(t->epochs, struct gt_calls_tasks_epoch, t->epochs->len - 1);
        if (time <= last->time) {
            last->map = map;
            return;
        }
    }
    g_array_append_val(t->epochs, e);
}

/* In a process that has no session of its own: a child has what its parent has, a thread what the
 * process's first task has. */
static void inherit(struct gt_calls_tasks *t, struct gt_calls_tasks_task *task,
                    const struct gt_calls_tasks_task *parent, const struct gt_uftrace_task *line)
{
    uint32_t index;
    const char *exename = process_of(t, line->pid, &index)->exename;
    struct gt_calls_process *p =
        &g_array_index(t->process, struct gt_calls_process, task->public.process);
    const GArray *epochs = parent->epochs;
    if (!*p->exename)
        p->exename = exename;
    if (epochs->len > 0)
        add_epoch(task, line->time,
                  g_array_index(epochs, struct gt_calls_tasks_epoch, epochs->len - 1).map);
    if (*exename)
        gt_calls_task_names_add_program(t, task, line->time, exename);
}

static void take_task(struct reader *r, const struct gt_uftrace_task *line)
{
    struct gt_calls_tasks *t = r->tasks;
    bool fork = line->kind == GT_UFTRACE_FORK;
    uint32_t process;
    struct gt_calls_process *p = process_of(t, fork ? line->tid : line->pid, &process);
    uint32_t index = gt_calls_tasks_add(t, line->tid);
    struct gt_calls_tasks_task *task = t->task->pdata[index];
    const struct session *s = session_of(r, line->pid, line->time);
    p->start = MIN(p->start, line->time);
    if (task->public.process == UINT32_MAX) {
        task->parent = fork ? line->pid : 0;
        task->public.process = process;
        task->public.start = line->time;
    }
    uint32_t parent = gt_calls_tasks_find(t, line->pid);
    if (s) {
        add_epoch(task, line->time, s->map);
        gt_calls_task_names_add_program(t, task, line->time, s->exename);
        if (!*p->exename)
            p->exename = s->exename;
    } else if (parent != UINT32_MAX && parent != index) {
        inherit(t, task, t->task->pdata[parent], line);
    }
}

static int take_library(struct reader *r, const struct gt_uftrace_task *line)
{
    int64_t map = gt_calls_spaces_add_map(r->spaces, line->sid, r->err);
    if (map >= 0)
        gt_calls_spaces_add_library(r->spaces, (size_t)map, line->time, line->base, line->path);
    return map < 0 ? (int)map : 0;
}

static int take_line(struct reader *r, const struct gt_uftrace_task *line)
{
    switch (line->kind) {
    case GT_UFTRACE_SESS:
        return take_session(r, line);
    case GT_UFTRACE_DLOP:
        return take_library(r, line);
    default:
        take_task(r, line);
        return 0;
    }
}

static int take_lines(struct reader *r, const char *text, size_t size, const char *place)
{
    struct gt_text_cursor all = {text, size}, at;
    bool whole;
    for (size_t number = 1; gt_text_take_line(&all, &at, &whole); number++) {
        struct gt_uftrace_task line;
        struct gt_error why = {0};
        if (!whole) {
            gt_error_notice(&r->tasks->notices, "%s line %zu: it was cut; it is left out", place,
                            number);
            return 0;
        }
        int status = gt_uftrace_task_read(at.at, at.left, &line, &why);
        if (status < 0)
            return gt_error_set(r->err, GT_E_FORMAT, "%s line %zu, %s", place, number, why.text);
        if ((status = take_line(r, &line)) < 0)
            return status;
    }
    return 0;
}

static int read_tasks(struct reader *r)
{
    char *text;
    size_t size;
    int status = gt_calls_texts_read(r->tasks->files, "task.txt", &text, &size, r->err);
    if (status < 0)
        return status;
    g_autofree char *place = gt_calls_texts_place(r->tasks->files, "task.txt");
    status = take_lines(r, text, size, place);
    free(text);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

void gt_calls_tasks_ready(struct gt_calls_tasks *t)
{
    for (guint i = 0; i < t->task->len; i++) {
        struct gt_calls_tasks_task *task = t->task->pdata[i];
        GArray *names = task->names;
        if (task->public.process == UINT32_MAX)
            process_of(t, task->public.id, &task->public.process);
        gt_calls_task_names_order(task);
        task->public.names = (const struct gt_calls_name *)(const void *)names->data;
        task->public.n_names = names->len;
        task->public.name = names->len > 0 ? task->public.names[names->len - 1].name : "";
    }
    for (guint i = 0; i < t->process->len; i++) {
        struct gt_calls_process *p = &g_array_index(t->process, struct gt_calls_process, i);
        p->start = p->start == UINT64_MAX ? 0 : p->start;
    }
}

int gt_calls_tasks_read(struct gt_calls_tasks *t, const struct gt_calls_texts *files,
                        struct gt_calls_spaces *spaces, const uint32_t *first, size_t n_first,
                        const struct gt_error_notices *notices, struct gt_error *err)
{
    *t = (struct gt_calls_tasks){.files = files, .notices = *notices};
    t->task = g_ptr_array_new_with_free_func(free_task);
    t->by_id = g_hash_table_new(NULL, NULL);
    t->process = g_array_new(FALSE, FALSE, sizeof(struct gt_calls_process));
    t->by_pid = g_hash_table_new(NULL, NULL);
    t->texts = g_string_chunk_new(4096);
    struct reader r = {t, spaces, g_array_new(FALSE, FALSE, sizeof(struct session)),
                       g_hash_table_new(NULL, NULL), err};
    for (size_t i = 0; i < n_first; i++)
        gt_calls_tasks_add(t, first[i]);
    int status = read_tasks(&r);
    if (status == 0)
        status = gt_calls_task_names_read(t, err);
    g_array_free(r.sessions, TRUE);
    g_hash_table_destroy(r.by_pid);
    return status;
}

uint32_t gt_calls_tasks_space(const struct gt_calls_tasks *t, const struct gt_calls_spaces *spaces,
                              uint32_t index, uint64_t time, uint64_t *until)
{
    const GArray *epochs = ((const struct gt_calls_tasks_task *)t->task->pdata[index])->epochs;
    guint i = epochs->len;
    if (i == 0)
        return gt_calls_spaces_at(spaces, 0, time, until);
    /* before its first line a task has what it has there */
    while (i > 1 && g_array_index(epochs, struct gt_calls_tasks_epoch, i - 1).time > time)
        i--;
    const struct gt_calls_tasks_epoch *e =
        &g_array_index(epochs, struct gt_calls_tasks_epoch, i - 1);
    uint32_t space = gt_calls_spaces_at(spaces, e->map, time, until);
    if (i < epochs->len)
        *until = MIN(*until, e[1].time);
    return space;
}
