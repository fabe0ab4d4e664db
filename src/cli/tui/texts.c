/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of `guesttrace tui` that are lists of texts: see page.h. */
#include "cli/info/info.h"
#include "cli/tui/keys.h"
#include "cli/tui/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What `guesttrace info` prints, from a file without a name. */
static int print_info(struct gtrace *t, int fd, struct gt_error *err)
{
    g_autofree struct gt_cli_pager *p = g_new0(struct gt_cli_pager, 1);
    struct gt_cli_info info;
    int status = gt_cli_info_read(t, &info, err);
    if (status == 0) {
        gt_output_init(&p->out, fd);
        gt_cli_info_text(&info, p);
        status = gt_output_finish(&p->out, "info", err);
    }
    gt_cli_info_clear(&info);
    return status;
}

static char *read_all(int fd)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *text = g_malloc0((gsize)MAX(size, 0) + 1);
    for (off_t n = 0, got; n < size; n += got)
        if ((got = pread(fd, text + n, (size_t)(size - n), n)) <= 0)
            break;
    return text;
}

int gt_tui_page_info(struct gt_cli_reading *r, struct gt_tui_page **out, struct gt_error *err)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    int fd = memfd_create("info", MFD_CLOEXEC);
    int status =
        fd < 0 ? gt_error_errno(err, errno, "no memory for a text") : print_info(r->trace, fd, err);
    if (status == 0) {
        g_autofree char *text = read_all(fd);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line && (line[1] || **line); line++)
            g_ptr_array_add(texts, g_strdup(*line));
    }
    if (fd >= 0)
        close(fd);
    *out = gt_tui_page_texts(GT_TUI_INFO, "info", texts);
    return status;
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* Sums of the tasks that have calls; the first row is of all. */
static int take_sums(struct gt_cli_reading *r, const char *const *tasks, struct gt_tui_page *p,
                     struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_window w = r->window.part;
    struct gtrace_sum *sum;
    size_t stride;
    w.tasks = tasks;
    const int64_t n = gtrace_sums(r->trace, &w, GTRACE_BY_TASK, &sum, &stride, &e);
    for (int64_t i = 0; i < n; i++) {
        struct gtrace_sum *all = &p->row[0], *of;
        if (sum[i].index + 1 >= p->n_rows)
            continue;
        of = &p->row[sum[i].index + 1];
        *of = sum[i];
        of->index++;
        all->calls += of->calls;
        all->total += of->total;
        all->slept += of->slept;
    }
    gtrace_free(sum);
    p->whole = p->row[0].total;
    return n < 0 ? gt_cli_opened_fail(err, (int)n, &e) : 0;
}

int gt_tui_page_tasks(struct gt_cli_reading *r, const char *const *tasks, uint32_t chosen,
                      struct gt_tui_page **out, struct gt_error *err)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    const size_t n = gtrace_n_tasks(r->trace);
    g_ptr_array_add(texts, g_strdup(chosen ? "  all tasks" : "* all tasks"));
    for (uint32_t i = 0; i < n; i++) {
        struct gtrace_task t = {.size = sizeof t};
        struct gtrace_process p = {.size = sizeof p};
        gtrace_task(r->trace, i, &t);
        gtrace_process(r->trace, t.process, &p);
        g_ptr_array_add(texts, g_strdup_printf("%s %" PRIu32 " %s  %s", chosen == i + 1 ? "*" : " ",
                                               t.id, t.name, p.program));
    }
    struct gt_tui_page *p = gt_tui_page_texts(GT_TUI_TASKS, "tasks: Enter chooses one", texts);
    p->row = calloc(n + 1, sizeof *p->row);
    p->n_rows = p->row ? (uint32_t)n + 1 : 0;
    for (uint32_t i = 0; i < p->n_rows; i++)
        p->row[i].index = i;
    *out = p;
    int status =
        p->row ? take_sums(r, tasks, p, err) : gt_error_set(err, GT_E_NOMEM, "out of memory");
    gt_tui_page_list(p);
    return status;
}

/* ---- others -------------------------------------------------------------------------------- */

struct gt_tui_page *gt_tui_page_keys(int columns)
{
    struct gt_tui_page *p =
        gt_tui_page_texts(GT_TUI_KEYS, "keys", gt_cli_key_help(gt_tui_keys, columns - 1));
    p->columns = columns;
    return p;
}

struct gt_tui_page *gt_tui_page_fields(const bool field[GT_TUI_FIELDS])
{
    static const char *const names[GT_TUI_FIELDS] = {"total time",
                                                     "total time, percent of the time that ran",
                                                     "self time",
                                                     "self time, percent of the time that ran",
                                                     "calls",
                                                     "average time of a call",
                                                     "time in which tasks slept",
                                                     "calls that did not return"};
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < GT_TUI_FIELDS; i++)
        g_ptr_array_add(texts, g_strdup_printf("[%s] %s", field[i] ? "x" : " ", names[i]));
    return gt_tui_page_texts(GT_TUI_FIELD_LIST, "fields: Enter shows or hides one", texts);
}
