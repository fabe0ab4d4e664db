/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions of a recording: see sessions.h. */
#include "names/processes/sessions.h"

#include "names/placement/locate.h"
#include "names/placement/map_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS      "task.txt"
#define TEXT_LIMIT ((size_t)64 << 20)

/* ---- reading ------------------------------------------------------------------------------- */

/* A machine has one session, and none of its tasks forks. */
static int add_line(struct gt_sysroot_base *b, const struct gt_uftrace_task *line, bool first,
                    struct gt_error *err)
{
    const struct gt_sysroot_task task = {line->time, line->tid, line->pid};
    if (line->kind != (first ? GT_UFTRACE_SESS : GT_UFTRACE_TASK))
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: --sysroot needs the recording of a machine",
                            b->dir.path);
    if (first)
        b->session = *line;
    else
        g_array_append_val(b->line, task);
    b->highest = MAX(b->highest, line->tid);
    return 0;
}

static int parse_tasks(struct gt_sysroot_base *b, const char *path, struct gt_error *err)
{
    struct gt_uftrace_task line;
    struct gt_error why = {0};
    size_t number = 0;
    int status = 0;
    for (const char *at = b->tasks; *at && status == 0;) {
        size_t size = strcspn(at, "\n");
        number++;
        status = gt_uftrace_task_read(at, size, &line, &why);
        if (status < 0)
            return gt_error_set(err, status, "%s line %zu, %s", path, number, why.text);
        status = add_line(b, &line, number == 1, err);
        at += size + (at[size] == '\n');
    }
    if (status == 0 && number == 0)
        return gt_error_set(err, GT_E_FORMAT, "%s is empty", path);
    return status;
}

static int read_tasks(struct gt_sysroot_base *b, struct gt_error *err)
{
    g_autofree char *path = g_build_filename(b->dir.path, TASKS, NULL);
    g_autofree char *aside = g_strconcat(path, GT_RECORDED_ENDING, NULL);
    size_t size;
    const char *from = g_file_test(aside, G_FILE_TEST_EXISTS) ? aside : path;
    int status = gt_file_read(from, TEXT_LIMIT, &b->tasks, &size, err);
    if (status == 0 && strlen(b->tasks) != size)
        status =
            gt_error_set(err, GT_E_FORMAT, "%s offset %zu: a zero byte", from, strlen(b->tasks));
    return status < 0 ? status : parse_tasks(b, from, err);
}

/* The recording's own map, as it was before `symbols` put something into it: without lines where it
 * never did. */
static int read_maps(struct gt_sysroot_base *b, struct gt_uftrace_map *recorded,
                     struct gt_error *err)
{
    g_autofree char *path = g_strdup_printf("%s/sid-%s.map", b->dir.path, b->session.sid);
    g_autofree char *aside = g_strconcat(path, GT_RECORDED_ENDING, NULL);
    int status = gt_place_map_read(path, &b->current, err);
    if (status == 0 && g_file_test(aside, G_FILE_TEST_EXISTS))
        status = gt_place_map_read(aside, recorded, err);
    return status;
}

/* "PATH", or a piece of it. */
static bool is_piece_of(const char *name, const char *path)
{
    size_t len = strlen(path);
    return strncmp(name, path, len) == 0 && (name[len] == '\0' || name[len] == '+');
}

static void find_named(struct gt_sysroot_base *b, const struct gt_uftrace_map *recorded)
{
    const struct gt_uftrace_map *m = &b->current;
    b->named.line = g_new0(struct gt_uftrace_mapping, m->n + 1);
    b->tab = g_new0(struct gt_uftrace_symtab, m->n + 1);
    for (size_t i = 0; i < m->n && recorded->n; i++) {
        bool own = false;
        for (size_t k = 0; k < recorded->n; k++)
            own = own || is_piece_of(m->line[i].path, recorded->line[k].path);
        if (own)
            continue;
        gt_place_map_find_symbols(&b->dir, m->line[i].path, &b->tab[b->named.n]);
        b->named.line[b->named.n++] = m->line[i];
    }
}

/* The name may have "FILE:" in front. */
static bool is_exec(const char *name)
{
    const char *colon = strrchr(name, ':');
    name = colon ? colon + 1 : name;
    return strcmp(name, "begin_new_exec") == 0 || strcmp(name, "flush_old_exec") == 0;
}

static gint by_number(gconstpointer a, gconstpointer b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void find_execs(struct gt_sysroot_base *b)
{
    b->execs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (size_t i = 0; i < b->named.n; i++) {
        for (size_t k = 0; k < b->tab[i].n; k++) {
            uint64_t addr = (b->named.line[i].start + b->tab[i].sym[k].addr) & GT_UFTRACE_ADDR_MASK;
            if (is_exec(b->tab[i].sym[k].name))
                g_array_append_val(b->execs, addr);
        }
    }
    g_array_sort(b->execs, by_number);
}

int gt_sysroot_base_read(const char *dir, struct gt_sysroot_base *out, struct gt_error *err)
{
    struct gt_uftrace_map recorded = {0};
    *out = (struct gt_sysroot_base){0};
    out->line = g_array_new(FALSE, FALSE, sizeof(struct gt_sysroot_task));
    int status = gt_uftrace_dir_open(&out->dir, dir, err);
    if (status == 0)
        status = read_tasks(out, err);
    if (status == 0)
        status = read_maps(out, &recorded, err);
    if (status == 0) {
        find_named(out, &recorded);
        find_execs(out);
    }
    gt_uftrace_map_free(&recorded);
    return status;
}

void gt_sysroot_base_free(struct gt_sysroot_base *b)
{
    for (size_t i = 0; b->tab && i < b->named.n; i++)
        gt_uftrace_symtab_free(&b->tab[i]);
    g_free(b->tab);
    g_free(b->named.line);
    gt_uftrace_map_free(&b->current);
    g_array_unref(b->line);
    if (b->execs)
        g_array_unref(b->execs);
    free(b->tasks);
    *b = (struct gt_sysroot_base){0};
}

/* ---- maps ---------------------------------------------------------------------------------- */

/* A process may have several sessions. */
static void make_sid(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p,
                     char sid[GT_UFTRACE_SID_LEN + 1])
{
    g_autofree char *what = g_strdup_printf("%s %u %" PRIu64, b->session.sid, p->pid, p->time);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, what, -1);
    memcpy(sid, sum, GT_UFTRACE_SID_LEN);
    sid[GT_UFTRACE_SID_LEN] = '\0';
}

int gt_sysroot_put_map(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p,
                       GArray *lines, struct gt_error *err)
{
    const guint n = lines->len;
    char sid[GT_UFTRACE_SID_LEN + 1];
    GArray *none = gt_place_map_lines_new();
    make_sid(b, p, sid);
    int status = gt_place_map_lines_put(none, &b->dir, sid, GT_RECORDED_ENDING, err);
    for (size_t i = 0; i < b->named.n && status == 0; i++)
        status = gt_place_map_lines_cut(lines, n, &b->named.line[i], &b->tab[i], &b->dir, err);
    if (status == 0)
        status = gt_place_map_lines_put(lines, &b->dir, sid, "", err);
    g_array_free(none, TRUE);
    return status;
}

/* ---- task.txt ------------------------------------------------------------------------------ */

/* The index of the first of a task's process, from 1 on. */
static GHashTable *index_tasks(const GArray *processes)
{
    GHashTable *index = g_hash_table_new(NULL, NULL);
    for (guint i = processes->len; i-- > 0;) {
        const GArray *tids = g_array_index(processes, struct gt_sysroot_process, i).tids;
        for (guint k = 0; k < tids->len; k++)
            g_hash_table_insert(index, GUINT_TO_POINTER(g_array_index(tids, uint32_t, k)),
                                GUINT_TO_POINTER(i + 1));
    }
    return index;
}

/* The recording's own session has its pid already. */
static uint32_t session_pid(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p)
{
    return p->pid == b->session.pid ? b->highest + 1 : p->pid;
}

static bool is_library(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    return strstr(base, ".so") != NULL;
}

/* The guest's name for it, or the file of which most was entered, libraries last. */
static const char *program_of(const struct gt_sysroot_process *p)
{
    const char *best = "";
    size_t hits = 0;
    bool library = true;
    for (guint i = 0; i < p->places->len; i++) {
        const struct gt_place *place = &g_array_index(p->places, struct gt_place, i);
        const bool is = is_library(place->part->path);
        if (*best && (is > library || (is == library && place->hits <= hits)))
            continue;
        best = place->part->path;
        hits = place->hits;
        library = is;
    }
    return p->name[0] ? p->name : best;
}

static int put_session(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p,
                       struct gt_text *t, struct gt_error *err)
{
    struct gt_uftrace_task line = {
        .kind = GT_UFTRACE_SESS, .time = p->time, .pid = session_pid(b, p)};
    make_sid(b, p, line.sid);
    g_strlcpy(line.path, program_of(p), sizeof line.path);
    return gt_uftrace_task_write(t, &line, err);
}

static int put_line(const struct gt_sysroot_task *task, struct gt_text *t, struct gt_error *err)
{
    const struct gt_uftrace_task line = {
        .kind = GT_UFTRACE_TASK, .time = task->time, .tid = task->tid, .pid = task->pid};
    return gt_uftrace_task_write(t, &line, err);
}

/* The task that lives on when its process becomes another session has a further line. */
static int put_task(const struct gt_sysroot_base *b, const struct gt_sysroot_process *p, guint n,
                    const struct gt_sysroot_task *task, struct gt_text *t, struct gt_error *err)
{
    struct gt_sysroot_task line = {task->time, task->tid, session_pid(b, p)};
    int status = put_line(&line, t, err);
    for (guint i = 1; i < n && status == 0; i++) {
        line.time = p[i].time;
        if (line.tid == p[i].tid && line.time > task->time)
            status = put_line(&line, t, err);
    }
    return status;
}

/* Sessions are put before the first task of their process. */
static int put_process(const struct gt_sysroot_base *b, const GArray *processes, guint first,
                       bool *begun, const struct gt_sysroot_task *task, struct gt_text *t,
                       struct gt_error *err)
{
    const struct gt_sysroot_process *p =
        &g_array_index(processes, struct gt_sysroot_process, first);
    guint n = 1;
    int status = 0;
    while (first + n < processes->len && p[n].pid == p->pid)
        n++;
    for (guint i = 0; i < n && !*begun && status == 0; i++)
        status = put_session(b, &p[i], t, err);
    *begun = true;
    return status < 0 ? status : put_task(b, p, n, task, t, err);
}

static int make_tasks(const struct gt_sysroot_base *b, const GArray *processes, struct gt_text *t,
                      struct gt_error *err)
{
    g_autoptr(GHashTable) index = index_tasks(processes), seen = g_hash_table_new(NULL, NULL);
    g_autofree bool *begun = g_new0(bool, processes->len + 1);
    int status = gt_uftrace_task_write(t, &b->session, err);
    for (guint i = 0; i < b->line->len && status == 0; i++) {
        const struct gt_sysroot_task *task = &g_array_index(b->line, struct gt_sysroot_task, i);
        gpointer tid = GUINT_TO_POINTER(task->tid);
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, tid));
        if (!g_hash_table_add(seen, tid))
            continue;
        status = at ? put_process(b, processes, at - 1, &begun[at - 1], task, t, err)
                    : put_line(task, t, err);
    }
    return status;
}

/* Maps of sessions that an earlier call made. */
static void remove_maps(const struct gt_sysroot_base *b, const GArray *processes, const char *tasks)
{
    g_autoptr(GHashTable) keep = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(keep, g_strdup(b->session.sid));
    for (guint i = 0; i < processes->len; i++) {
        char *sid = g_malloc(GT_UFTRACE_SID_LEN + 1);
        make_sid(b, &g_array_index(processes, struct gt_sysroot_process, i), sid);
        g_hash_table_add(keep, sid);
    }
    for (const char *at = tasks; *at;) {
        struct gt_uftrace_task line;
        size_t size = strcspn(at, "\n");
        if (gt_uftrace_task_read(at, size, &line, NULL) == 0 && line.kind == GT_UFTRACE_SESS &&
            !g_hash_table_contains(keep, line.sid)) {
            g_autofree char *path = g_strdup_printf("%s/sid-%s.map", b->dir.path, line.sid);
            g_autofree char *aside = g_strconcat(path, GT_RECORDED_ENDING, NULL);
            unlink(path);
            unlink(aside);
        }
        at += size + (at[size] == '\n');
    }
}

int gt_sysroot_put_tasks(const struct gt_sysroot_base *b, const GArray *processes,
                         struct gt_error *err)
{
    g_autofree char *path = g_build_filename(b->dir.path, TASKS, NULL);
    g_autofree char *aside = g_strconcat(path, GT_RECORDED_ENDING, NULL);
    struct gt_text t = {0};
    char *former;
    size_t size;
    int status = gt_file_read(path, TEXT_LIMIT, &former, &size, err);
    if (status < 0)
        return status;
    if (!g_file_test(aside, G_FILE_TEST_EXISTS))
        status = gt_file_replace(aside, b->tasks, strlen(b->tasks), err);
    if (status == 0)
        status = make_tasks(b, processes, &t, err);
    if (status == 0)
        status = gt_file_replace_text(path, &t, err);
    if (status == 0)
        remove_maps(b, processes, former);
    gt_text_free(&t);
    free(former);
    return status;
}
