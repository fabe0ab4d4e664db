/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a recording: see info.h. */
#include "cli/info/info.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

char *gt_cli_info_form(const struct gtrace_facts *f)
{
    switch (f->form) {
    case GTRACE_FILE:
        return g_strdup_printf("compact file, version %u.%u", f->major, f->minor);
    case GTRACE_DIRECTORY:
        return g_strdup("uftrace directory");
    default:
        return g_strdup("etrace stream");
    }
}

const char *gt_cli_info_clock(const struct gt_cli_info *i)
{
    static const char *const names[] = {[GTRACE_CLOCK_INSTRUCTIONS] = "insn",
                                        [GTRACE_CLOCK_HOST] = "host",
                                        [GTRACE_CLOCK_MIXED] = "mixed"};
    return names[i->facts.clock];
}

char *gt_cli_info_exit(int status)
{
    if (WIFSIGNALED(status))
        return g_strdup_printf("killed by signal %d (%s)", WTERMSIG(status),
                               strsignal(WTERMSIG(status)));
    return g_strdup_printf("exit status %d", WEXITSTATUS(status));
}

/* ---- reading ------------------------------------------------------------------------------- */

struct gtrace_task gt_cli_info_task(const struct gt_cli_info *i, uint32_t index)
{
    struct gtrace_task task = {.size = sizeof task};
    gtrace_task(i->trace, index, &task);
    return task;
}

struct gtrace_process gt_cli_info_process(const struct gt_cli_info *i, uint32_t index)
{
    struct gtrace_process process = {.size = sizeof process};
    gtrace_process(i->trace, index, &process);
    return process;
}

struct gtrace_statistic gt_cli_info_statistic(const struct gt_cli_info *i, size_t index)
{
    struct gtrace_statistic s = {.size = sizeof s};
    gtrace_statistic_at(i->trace, index, &s);
    return s;
}

const char *gt_cli_info_error(const struct gt_cli_info *i)
{
    for (size_t k = 0; k < gtrace_n_statistics(i->trace); k++) {
        const struct gtrace_statistic s = gt_cli_info_statistic(i, k);
        if (strcmp(s.name, "error") == 0)
            return s.value;
    }
    return NULL;
}

/* When the recording's info was written; 0: not known. */
static time_t written_at(const struct gtrace_facts *f)
{
    g_autofree char *path =
        f->form == GTRACE_DIRECTORY ? g_build_filename(f->path, "info", NULL) : g_strdup(f->path);
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mtime : 0;
}

int gt_cli_info_read(struct gtrace *t, struct gt_cli_info *i, struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    size_t stride;
    *i = (struct gt_cli_info){.trace = t, .facts = {.size = sizeof i->facts}};
    gtrace_facts(t, &i->facts);
    int status = gtrace_counts(t, &i->counts, &stride, &e);
    if (status < 0)
        return gt_cli_opened_fail(err, status, &e);
    i->all = i->counts[gtrace_n_tasks(t)];
    i->when = written_at(&i->facts);
    return 0;
}

void gt_cli_info_clear(struct gt_cli_info *i)
{
    gtrace_free(i->counts);
}
