/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of `guesttrace tui` that are lists of texts: see page.h. */
#include "cli/info/info.h"
#include "cli/tui/page.h"

#include <errno.h>
#include <inttypes.h>
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

struct gt_tui_page *gt_tui_page_tasks(const struct gt_cli_reading *r, uint32_t chosen)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(texts, g_strdup(chosen ? "  all tasks" : "* all tasks"));
    for (uint32_t i = 0; i < gtrace_n_tasks(r->trace); i++) {
        struct gtrace_task t = {.size = sizeof t};
        struct gtrace_process p = {.size = sizeof p};
        gtrace_task(r->trace, i, &t);
        gtrace_process(r->trace, t.process, &p);
        g_ptr_array_add(texts, g_strdup_printf("%s %" PRIu32 " %s  %s", chosen == i + 1 ? "*" : " ",
                                               t.id, t.name, p.program));
    }
    return gt_tui_page_texts(GT_TUI_TASKS, "tasks: Enter chooses one", texts);
}

struct gt_tui_page *gt_tui_page_fields(const bool field[GT_TUI_FIELDS])
{
    static const char *const names[GT_TUI_FIELDS] = {"total time",
                                                     "self time",
                                                     "calls",
                                                     "average time of a call",
                                                     "time in which tasks slept",
                                                     "calls that did not return"};
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < GT_TUI_FIELDS; i++)
        g_ptr_array_add(texts, g_strdup_printf("[%s] %s", field[i] ? "x" : " ", names[i]));
    return gt_tui_page_texts(GT_TUI_FIELD_LIST, "fields: Enter shows or hides one", texts);
}
