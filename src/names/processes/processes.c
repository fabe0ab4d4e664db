/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of a recorded guest: see processes.h. */
#include "names/processes/processes.h"

#include "names/placement/locate.h"
#include "recording/texts/files.h"
#include "recording/texts/guest_tasks.h"
#include "recording/texts/tasks.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT ((size_t)64 << 20)

enum { UNKNOWN, KNOWN, SEVERAL }; /* the state of a task's TGID */

struct task {
    uint32_t tid, tgid;
    uint64_t time;
    int what;
    char name[16];
};

static gint by_tid(gconstpointer a, gconstpointer b)
{
    const struct task *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static gint by_group(gconstpointer a, gconstpointer b)
{
    const struct task *x = a, *y = b;
    if (x->what != y->what)
        return x->what - y->what;
    if (x->what == KNOWN && x->tgid != y->tgid)
        return x->tgid < y->tgid ? -1 : 1;
    return by_tid(a, b);
}

/* Each task once, by its first line. */
static GArray *make_tasks(const struct gt_sysroot_task *line, size_t n)
{
    GArray *tasks = g_array_new(FALSE, TRUE, sizeof(struct task));
    for (size_t i = 0; i < n; i++) {
        const struct task t = {.tid = line[i].tid, .time = line[i].time};
        g_array_append_val(tasks, t);
    }
    g_array_sort(tasks, by_tid);
    guint kept = 0;
    struct task *t = (struct task *)(void *)tasks->data;
    for (guint i = 0; i < tasks->len; i++)
        if (kept == 0 || t[i].tid != t[kept - 1].tid)
            t[kept++] = t[i];
    g_array_set_size(tasks, kept);
    return tasks;
}

static void note_task(GArray *tasks, uint32_t tid, uint32_t tgid, const char *name)
{
    guint at;
    const struct task key = {.tid = tid};
    if (!g_array_binary_search(tasks, &key, by_tid, &at))
        return;
    struct task *t = &g_array_index(tasks, struct task, at);
    t->what = t->what == UNKNOWN || (t->what == KNOWN && t->tgid == tgid) ? KNOWN : SEVERAL;
    t->tgid = tgid;
    g_strlcpy(t->name, name, sizeof t->name);
}

/* A line that is none is passed over. */
static void read_guest_tasks(const char *dir, GArray *tasks)
{
    g_autofree char *path = g_build_filename(dir, GT_GUEST_TASKS_FILE, NULL);
    char *text;
    size_t size;
    if (gt_file_read(path, TEXT_LIMIT, &text, &size, NULL) < 0)
        return;
    for (char *line = text, *end; *line; line = end) {
        struct gt_recording_guest_task t;
        end = line + strcspn(line, "\n");
        end += *end == '\n' ? (*end = '\0', 1) : 0;
        if (gt_recording_guest_task_parse(line, &t))
            note_task(tasks, t.task, t.tgid, t.comm);
    }
    free(text);
}

static bool any_known(const GArray *tasks)
{
    for (guint i = 0; i < tasks->len; i++)
        if (g_array_index(tasks, struct task, i).what != UNKNOWN)
            return true;
    return false;
}

/* ---- one process --------------------------------------------------------------------------- */

static void remove_named(struct gt_place_entries *e, const struct gt_uftrace_map *named)
{
    for (size_t i = 0; i < named->n; i++)
        gt_place_entries_remove(e, named->line[i].start & GT_UFTRACE_ADDR_MASK,
                                named->line[i].end & GT_UFTRACE_ADDR_MASK);
}

void gt_sysroot_process_clear(void *process)
{
    struct gt_sysroot_process *p = process;
    g_array_unref(p->tids);
    g_array_unref(p->places);
    g_array_unref(p->vague);
    gt_place_entries_free(&p->entries);
    gt_place_entries_free(&p->open);
    gt_place_entries_free(&p->left);
}

static struct gt_sysroot_process make_process(const struct task *task, guint n)
{
    struct gt_sysroot_process p = {.pid = task[0].tid, .time = task[0].time};
    p.tids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (guint i = 0; i < n; i++) {
        g_array_append_val(p.tids, task[i].tid);
        p.time = MIN(p.time, task[i].time);
    }
    memcpy(p.name, task[0].name, sizeof p.name);
    return p;
}

/* A program that the process executed. */
struct exec {
    uint64_t time;
    uint32_t tid;
    GArray *open; /* uint64_t, as gt_place_entries_call has it */
};

static void clear_exec(void *data)
{
    g_array_unref(((struct exec *)data)->open);
}

static gint by_number(gconstpointer a, gconstpointer b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Calls that were open, each once, without those that have names. */
static struct gt_place_entries open_entries(GArray *open, const struct gt_uftrace_map *named)
{
    struct gt_place_entries e = {g_new(uint64_t, open->len + 1), 0};
    g_array_sort(open, by_number);
    for (guint i = 0; i < open->len; i++) {
        const uint64_t addr = g_array_index(open, uint64_t, i);
        if (e.n == 0 || e.addr[e.n - 1] != addr)
            e.addr[e.n++] = addr;
    }
    remove_named(&e, named);
    return e;
}

/* Appends the process as often as it called something between its execs. */
static void add_parts(GArray *out, const struct gt_sysroot_process *whole, const GArray *execs,
                      struct gt_place_entries *entries, const struct gt_uftrace_map *named)
{
    const guint before = out->len;
    for (guint i = 0; i <= execs->len; i++) {
        struct gt_sysroot_process p = *whole;
        remove_named(&entries[i], named);
        if (!entries[i].n) {
            gt_place_entries_free(&entries[i]);
            continue;
        }
        p.entries = entries[i];
        g_array_ref(p.tids);
        p.places = g_array_new(FALSE, FALSE, sizeof(struct gt_place));
        p.vague = g_array_new(FALSE, FALSE, sizeof(struct gt_place));
        if (out->len > before) {
            const struct exec *exec = &g_array_index(execs, struct exec, i - 1);
            p.time = exec->time;
            p.tid = exec->tid;
            p.open = open_entries(exec->open, named);
        }
        if (i < execs->len)
            p.name[0] = '\0';
        g_array_append_val(out, p);
    }
}

/* ---- all of them --------------------------------------------------------------------------- */

/* A process, while it is read. */
struct reading {
    struct gt_sysroot_process whole;
    GArray *execs; /* struct exec, in order */
    uint64_t times[GT_SYSROOT_EXECS_MAX];
    struct gt_place_entries entries[GT_SYSROOT_EXECS_MAX + 1];
};

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct exec *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static bool same_process(const struct task *a, const struct task *b)
{
    return a->what == KNOWN && b->what == KNOWN && a->tgid == b->tgid;
}

static gint by_tid_of_calls(gconstpointer a, gconstpointer b)
{
    const struct gt_place_entries_calls *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static GArray *new_execs(void)
{
    GArray *execs = g_array_new(FALSE, FALSE, sizeof(struct exec));
    g_array_set_clear_func(execs, clear_exec);
    return execs;
}

/* The processes that tasks, in order of their groups, are in. */
static GArray *make_processes(const GArray *all)
{
    GArray *out = g_array_new(FALSE, TRUE, sizeof(struct reading));
    const struct task *t = (const struct task *)(const void *)all->data;
    for (guint i = 0, next; i < all->len; i = next) {
        for (next = i + 1; next < all->len && same_process(&t[i], &t[next]); next++)
            ;
        if (t[i].what == KNOWN && t[i].tgid == 0)
            continue;
        const struct reading r = {.whole = make_process(&t[i], next - i), .execs = new_execs()};
        g_array_append_val(out, r);
    }
    return out;
}

static void free_processes(GArray *readings)
{
    for (guint i = 0; i < readings->len; i++) {
        g_array_unref(g_array_index(readings, struct reading, i).execs);
        g_array_unref(g_array_index(readings, struct reading, i).whole.tids);
    }
    g_array_unref(readings);
}

static void add_execs(struct reading *r, const struct gt_place_entries_calls *calls)
{
    for (size_t i = 0; i < calls->n; i++) {
        struct exec exec = {calls->call[i].time, calls->tid,
                            g_array_new(FALSE, FALSE, sizeof(uint64_t))};
        g_array_append_vals(exec.open, calls->call[i].open, (guint)calls->call[i].n_open);
        g_array_append_val(r->execs, exec);
    }
}

/* The tasks of all processes. */
static int find_execs(const struct gt_recording_records *at, GArray *readings,
                      const struct gt_place_entries *functions, struct gt_error *err)
{
    g_autoptr(GHashTable) process = g_hash_table_new(NULL, NULL); /* tid -> index + 1 */
    g_autoptr(GArray) calls = g_array_new(FALSE, TRUE, sizeof(struct gt_place_entries_calls));
    for (guint i = 0; i < readings->len && functions->n; i++) {
        const GArray *tids = g_array_index(readings, struct reading, i).whole.tids;
        for (guint k = 0; k < tids->len; k++) {
            const struct gt_place_entries_calls c = {.tid = g_array_index(tids, uint32_t, k)};
            if (gt_recording_task_is_vcpu(c.tid))
                continue;
            g_array_append_val(calls, c);
            g_hash_table_insert(process, GUINT_TO_POINTER(c.tid), GUINT_TO_POINTER(i + 1));
        }
    }
    g_array_sort(calls, by_tid_of_calls);
    struct gt_place_entries_calls *c = (struct gt_place_entries_calls *)(void *)calls->data;
    int status =
        calls->len ? gt_place_entries_find(at, functions, GT_SYSROOT_EXECS_MAX, c, calls->len, err)
                   : 0;
    for (guint i = 0; i < calls->len && status == 0; i++) {
        gpointer index = g_hash_table_lookup(process, GUINT_TO_POINTER(c[i].tid));
        add_execs(&g_array_index(readings, struct reading, GPOINTER_TO_UINT(index) - 1), &c[i]);
    }
    gt_place_entries_calls_free(c, calls->len);
    return status;
}

/* What each process entered, between its execs. */
static int read_entries(const struct gt_recording_records *at, GArray *readings,
                        struct gt_error *err)
{
    g_autofree struct gt_place_entries_group *group =
        g_new0(struct gt_place_entries_group, readings->len + 1);
    for (guint i = 0; i < readings->len; i++) {
        struct reading *r = &g_array_index(readings, struct reading, i);
        g_array_sort(r->execs, by_time);
        if (r->execs->len > GT_SYSROOT_EXECS_MAX)
            g_array_set_size(r->execs, GT_SYSROOT_EXECS_MAX);
        for (guint k = 0; k < r->execs->len; k++)
            r->times[k] = g_array_index(r->execs, struct exec, k).time;
        group[i] = (struct gt_place_entries_group){
            .tids = (const uint32_t *)(const void *)r->whole.tids->data,
            .n_tids = r->whole.tids->len,
            .times = r->times,
            .n_times = r->execs->len,
            .out = r->entries,
        };
    }
    return gt_place_entries_read_groups(at, group, readings->len, err);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static gint by_pid(gconstpointer a, gconstpointer b)
{
    const struct gt_sysroot_process *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

int gt_sysroot_processes_read(const struct gt_recording_records *at,
                              const struct gt_sysroot_tasks *tasks, GArray **out, bool *grouped,
                              struct gt_error *err)
{
    GArray *all = make_tasks(tasks->line, tasks->n);
    read_guest_tasks(at->dir, all);
    *grouped = any_known(all);
    g_array_sort(all, by_group);
    GArray *readings = make_processes(all);
    *out = g_array_new(FALSE, FALSE, sizeof(struct gt_sysroot_process));
    g_array_set_clear_func(*out, gt_sysroot_process_clear);
    int status = find_execs(at, readings, tasks->execs, err);
    if (status == 0)
        status = read_entries(at, readings, err);
    for (guint i = 0; i < readings->len && status == 0; i++) {
        struct reading *r = &g_array_index(readings, struct reading, i);
        add_parts(*out, &r->whole, r->execs, r->entries, tasks->named);
    }
    g_array_sort(*out, by_pid);
    free_processes(readings);
    g_array_unref(all);
    return status;
}

static bool same_place(const struct gt_place *a, const struct gt_place *b)
{
    return a->part == b->part && a->start == b->start && a->end == b->end && a->lo == b->lo;
}

static bool has_place(const GArray *places, const struct gt_place *p)
{
    for (guint i = 0; i < places->len; i++)
        if (same_place(&g_array_index(places, struct gt_place, i), p))
            return true;
    return false;
}

static bool has_part(const GArray *places, const struct gt_image_source_part *part)
{
    for (guint i = 0; i < places->len; i++)
        if (g_array_index(places, struct gt_place, i).part == part)
            return true;
    return false;
}

/* Something of a is where b, and not a, has a file. */
static bool is_across(const struct gt_sysroot_process *a, const struct gt_sysroot_process *b)
{
    for (guint i = 0; i < b->places->len; i++) {
        const struct gt_place *p = &g_array_index(b->places, struct gt_place, i);
        size_t first = gt_place_entries_at(&a->left, p->start);
        if (first < a->left.n && a->left.addr[first] < p->end)
            return true;
        for (guint k = 0; k < a->places->len; k++) {
            const struct gt_place *other = &g_array_index(a->places, struct gt_place, k);
            if (!same_place(p, other) && other->start < p->end && p->start < other->end)
                return true;
        }
    }
    return false;
}

static void add_entries(struct gt_place_entries *to, const struct gt_place_entries *from)
{
    uint64_t *addr = g_new(uint64_t, to->n + from->n + 1);
    size_t n = 0;
    for (size_t i = 0, k = 0; i < to->n || k < from->n;) {
        const bool first = k == from->n || (i < to->n && to->addr[i] <= from->addr[k]);
        const uint64_t next = first ? to->addr[i++] : from->addr[k++];
        if (n == 0 || addr[n - 1] != next)
            addr[n++] = next;
    }
    gt_place_entries_free(to);
    *to = (struct gt_place_entries){addr, n};
}

/* A file that is at two places has its further name at the second. */
static void absorb(struct gt_sysroot_process *to, const struct gt_sysroot_process *from)
{
    for (guint i = 0; i < from->places->len; i++) {
        struct gt_place p = g_array_index(from->places, struct gt_place, i);
        if (has_place(to->places, &p))
            continue;
        p.further = p.further || has_part(to->places, p.part);
        g_array_append_val(to->places, p);
    }
    add_entries(&to->entries, &from->entries);
    add_entries(&to->left, &from->left);
    memcpy(to->name, from->name, sizeof to->name);
}

static void join_following(GArray *processes, guint at)
{
    while (at + 1 < processes->len) {
        struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, at);
        if (p[1].pid != p->pid || is_across(p, &p[1]) || is_across(&p[1], p))
            return;
        absorb(p, &p[1]);
        g_array_remove_index(processes, at + 1);
    }
}

static void remove_unplaced(GArray *processes)
{
    for (guint i = 0, n; i < processes->len; i += n) {
        const struct gt_sysroot_process *p =
            &g_array_index(processes, struct gt_sysroot_process, i);
        bool any = false;
        for (n = 0; i + n < processes->len && p[n].pid == p->pid; n++)
            any = any || p[n].places->len;
        if (any)
            continue;
        g_array_remove_range(processes, i, n);
        n = 0;
    }
}

void gt_sysroot_join(GArray *processes)
{
    for (guint i = 0; i < processes->len; i++)
        join_following(processes, i);
    remove_unplaced(processes);
}
