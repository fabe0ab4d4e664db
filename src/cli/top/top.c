/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks of `guesttrace top` at a recording, and their rows: see top.h. */
#include "cli/top/top.h"

#include "base/text.h"
#include "calls/file/work.h"
#include "cli/terminal_text.h"
#include "recording/texts/dir_lock.h"
#include "recording/texts/files.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT = 30 }; /* seconds for an answer */

const char *const gt_cli_top_sort_names[GT_TOP_SORTS + 1] = {
    "self", "total", "calls", "all-self", "all-total", "all-calls", "name", NULL};

/* ---- looks --------------------------------------------------------------------------------- */

/* A recording is a file or a directory: others may never end to be opened. */
static int take_path(struct gt_cli_top *t, const char *answer, struct gt_error *err)
{
    static const char done[] = "ok ";
    g_autofree char *line = g_strndup(answer, strcspn(answer, "\r\n"));
    g_autofree char *shown = gt_cli_shown(line);
    if (!g_str_has_prefix(line, done) || line[strlen(done)] != '/' || strcmp(line, shown) != 0)
        return gt_error_set(err, GT_E_FORMAT, "%s: not a recording's answer to path: %.64s",
                            t->socket, shown);
    t->path = g_strdup(line + strlen(done));
    if (!g_file_test(t->path, G_FILE_TEST_IS_DIR) && !g_file_test(t->path, G_FILE_TEST_IS_REGULAR))
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: there is no such file; is the recording on "
                            "this machine?",
                            t->path);
    return 0;
}

static int ask_path(struct gt_cli_top *t, struct gt_error *err)
{
    static const char prefix[] = "path: "; /* of its errors */
    struct gt_error why = {0};
    g_autoptr(GString) answer = g_string_new(NULL);
    int status = gt_cli_ctl_command(&t->link, "path", answer, &why);
    if (status == GT_E_USAGE && g_str_has_prefix(why.text, prefix))
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: %s", t->socket, why.text + strlen(prefix));
    if (status == GT_E_USAGE)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: not the socket of a recording of calls: %s",
                            t->socket, why.text);
    if (status < 0)
        return gt_error_set(err, status, "%s", why.text);
    return take_path(t, answer->str, err);
}

/* The command record has the code map beside the recording until this has ended. */
static struct gt_place_live *make_live(const char *path)
{
    const bool is_dir = g_file_test(path, G_FILE_TEST_IS_DIR);
    g_autofree char *map = g_strdup_printf("%s." GT_CODE_MAP_FILE, path);
    g_autofree char *found =
        g_strdup_printf("%s%s/" GT_CODE_FOUND_FILE, path, is_dir ? "" : GT_COMPACT_WORK_ENDING);
    return gt_place_live_create(map, found);
}

int gt_cli_top_add_symbols(struct gt_cli_top *t, const char *argument, struct gt_error *err)
{
    return gt_place_live_add(t->live, argument, err);
}

static void take_notice(void *self, const char *line)
{
    const struct gt_cli_top *t = self;
    if (t->held)
        g_ptr_array_add(t->held, g_strdup(line));
    else
        gt_error_notice(&t->notices, "%s", line);
}

int gt_cli_top_open(struct gt_cli_top *t, const char *socket, struct gt_error *err)
{
    t->socket = socket;
    t->link.fd = -1;
    int status = gt_cli_ctl_open(&t->link, socket, TIMEOUT, err);
    if (status == 0)
        status = ask_path(t, err);
    if (status < 0)
        return status;
    t->follow =
        gt_calls_follow_create(t->path, t->most, &(struct gt_error_notices){take_notice, t});
    t->live = make_live(t->path);
    t->rows = g_array_new(FALSE, FALSE, sizeof(struct gt_cli_top_row));
    t->lost_why = g_string_new(NULL);
    return 0;
}

void gt_cli_top_close(struct gt_cli_top *t)
{
    gt_cli_ctl_close(&t->link);
    gt_calls_follow_destroy(t->follow);
    gt_place_live_destroy(t->live);
    gt_image_demangler_destroy(t->demangler);
    if (t->rows)
        g_array_free(t->rows, TRUE);
    for (guint i = 0; t->held && i < t->held->len; i++)
        gt_error_notice(&t->notices, "%s", (const char *)t->held->pdata[i]);
    if (t->held)
        g_ptr_array_free(t->held, TRUE);
    if (t->lost_why)
        g_string_free(t->lost_why, TRUE);
    g_free(t->path);
    g_free(t->glob);
    g_free(t->task);
    g_free(t->since);
}

/* What has become of a recording whose socket is gone: the records that are in no file yet are in
 * pools, which have the numbers of their processes. The lock is there until the recording is
 * complete; a pool is not, for a moment, where a process goes on as another program. */
static enum gt_cli_top_state state_of(const struct gt_cli_top *t)
{
    g_autofree char *parts = g_strdup_printf("%s" GT_COMPACT_WORK_ENDING, t->path);
    const bool is_dir = g_file_test(t->path, G_FILE_TEST_IS_DIR);
    const char *path = is_dir ? t->path : parts;
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    if (!dir || !gt_recording_dir_lock_is_there(path))
        return GT_TOP_ENDED;
    enum gt_cli_top_state state = GT_TOP_GOES_ON;
    for (const char *name; (name = g_dir_read_name(dir));) {
        int pid, end = 0;
        if (sscanf(name, ".guesttrace-%d.ring%n", &pid, &end) != 1 || !end || name[end] || pid <= 0)
            continue;
        if (kill(pid, 0) == 0 || errno == EPERM)
            return GT_TOP_GOES_ON;
        state = GT_TOP_INTERRUPTED;
    }
    return state;
}

/* GT_E_USAGE: the recording refused. Else the connection is gone where that is not 0. */
static int ask(struct gt_cli_top *t, struct gt_error *err)
{
    g_autoptr(GString) answer = g_string_new(NULL);
    int status = gt_cli_ctl_command(&t->link, "flush", answer, err);
    g_string_truncate(answer, 0);
    if (status == 0)
        status = gt_cli_ctl_command(&t->link, "status", answer, err);
    t->is_on = !strstr(answer->str, "recording=off");
    return status;
}

/* Asks for the calls recorded until now, as long as there is a connection, and reads it. */
static int read_new(struct gt_cli_top *t, struct gt_error *err)
{
    struct gt_error why = {0};
    int status = t->state == GT_TOP_CONNECTED ? ask(t, &why) : 0;
    if (status == GT_E_USAGE)
        return gt_error_set(err, GT_E_IO, "%s: %s", t->socket, why.text);
    if (status < 0) {
        g_string_assign(t->lost_why, why.text);
        gt_cli_ctl_close(&t->link);
    }
    if (status < 0 || t->state != GT_TOP_CONNECTED)
        t->state = state_of(t);
    return gt_calls_follow_read(t->follow, t->state != GT_TOP_ENDED, err);
}

static bool wants(void *self, const struct gt_calls_follow_task *task)
{
    const struct gt_cli_top *t = self;
    g_autofree char *number = g_strdup_printf("%" PRIu32, task->id);
    return !t->task || strcmp(t->task, number) == 0 || gt_text_glob_fits(t->task, task->name);
}

static void note_time(struct gt_cli_top *t)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_free(t->since);
    t->since = g_date_time_format(now, "%H:%M:%S");
}

void gt_cli_top_set_task(struct gt_cli_top *t, const char *task)
{
    note_time(t);
    g_free(t->task);
    t->task = task && *task ? g_strdup(task) : NULL;
    gt_calls_follow_only(t->follow, wants, t);
}

static bool name_one(void *live, uint64_t address, const char **module, const char **name)
{
    *name = gt_place_live_find(live, address, module);
    return *name != NULL;
}

static void name_functions(struct gt_cli_top *t)
{
    const size_t n = gt_calls_follow_n_functions(t->follow);
    g_autofree uint64_t *address = g_new(uint64_t, n + 1);
    size_t unnamed = 0;
    for (size_t i = 0; i < n; i++) {
        const struct gt_calls_follow_function *f = gt_calls_follow_function(t->follow, i);
        address[i] = f->address;
        unnamed += f->is_unnamed;
    }
    if (unnamed == 0)
        return;
    gt_place_live_search(t->live, address, n);
    gt_calls_follow_name(t->follow, name_one, t->live);
}

/* Where the recording ends meanwhile, or is repaired, its files become others: it is read again. */
int gt_cli_top_look(struct gt_cli_top *t, struct gt_error *err)
{
    if (t->state == GT_TOP_ENDED)
        return 0;
    int status = read_new(t, err);
    if (!t->since)
        note_time(t);
    if (status == GT_E_NOT_FOUND || status == GT_E_FORMAT)
        status = read_new(t, err);
    if ((status == GT_E_NOT_FOUND || status == GT_E_FORMAT) &&
        (t->state == GT_TOP_GOES_ON || t->state == GT_TOP_INTERRUPTED))
        status = 0;
    if (status == 0)
        name_functions(t);
    const int64_t now = g_get_monotonic_time();
    t->seconds = t->looked ? (double)(now - t->looked) / G_USEC_PER_SEC : 0;
    t->looked = now;
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint64_t key_of(const struct gt_cli_top_row *row, enum gt_cli_top_sort sort)
{
    const struct gt_calls_follow_sum *now = &row->sums.now, *all = &row->sums.all;
    const uint64_t keys[GT_TOP_SORTS] = {now->self,  now->total, now->calls, all->self,
                                         all->total, all->calls, 0};
    return keys[sort];
}

/* A function that has not run since the last look is shown where rows are sorted by older sums. */
static void add_row(struct gt_cli_top *t, const char *name, const struct gt_cli_top_row *row)
{
    const bool by_all = t->sort >= GT_TOP_BY_ALL_SELF && t->sort <= GT_TOP_BY_ALL_CALLS;
    const struct gt_calls_follow_sum *shown = by_all ? &row->sums.all : &row->sums.now;
    if ((shown->calls || shown->self || shown->total) &&
        (!t->glob || gt_text_glob_fits(t->glob, name)))
        g_array_append_vals(t->rows, row, 1);
}

/* Rows of other things than functions come last. */
static gint compare_rows(gconstpointer a, gconstpointer b, gpointer top)
{
    const struct gt_cli_top *t = top;
    const struct gt_cli_top_row *x = a, *y = b;
    const uint64_t of_x = key_of(x, t->sort), of_y = key_of(y, t->sort);
    if (x->suspends != y->suspends)
        return x->suspends ? 1 : -1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order == 0 && x->module)
        order = strcmp(x->module, y->module);
    return order ? order : x->task < y->task ? -1 : x->task > y->task;
}

static void add_sum(struct gt_calls_follow_sum *to, const struct gt_calls_follow_sum *more)
{
    to->calls += more->calls;
    to->self += more->self;
    to->total += more->total;
    to->slept += more->slept;
}

static void to_wall(struct gt_calls_follow_sum *s)
{
    s->total += s->slept;
    s->slept = 0;
}

void gt_cli_top_list(struct gt_cli_top *t)
{
    g_array_set_size(t->rows, 0);
    t->sums = (struct gt_calls_follow_sums){0};
    for (size_t i = 0; i < gt_calls_follow_n_tasks(t->follow); i++) {
        const struct gt_calls_follow_task *task = gt_calls_follow_task(t->follow, i);
        const struct gt_cli_top_row row = {
            .name = task->name, .task = task->id, .sums = task->sums};
        add_sum(&t->sums.now, &task->sums.now);
        add_sum(&t->sums.all, &task->sums.all);
        if (t->by_task)
            add_row(t, row.name, &row);
    }
    for (size_t i = 0; !t->by_task && i < gt_calls_follow_n_functions(t->follow); i++) {
        const struct gt_calls_follow_function *f = gt_calls_follow_function(t->follow, i);
        struct gt_cli_top_row row = {
            .name = f->name, .module = f->module, .suspends = f->suspends, .sums = f->sums};
        if (f->suspends && !t->wall)
            continue;
        if (t->wall) {
            to_wall(&row.sums.now);
            to_wall(&row.sums.all);
        }
        add_row(t, gt_image_demangle(t->demangler, f->name), &row);
    }
    g_array_sort_with_data(t->rows, compare_rows, t);
    if (t->limit && t->rows->len > t->limit)
        g_array_set_size(t->rows, (guint)t->limit);
}
