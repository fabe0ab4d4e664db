/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a recording: see info.h. */
#include "cli/info/info.h"
#include "recording/texts/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

char *gt_info_form(const struct gt_calls_facts *f)
{
    switch (f->form) {
    case GT_CALLS_COMPACT:
        return g_strdup_printf("compact file, version %u.%u", f->major, f->minor);
    case GT_CALLS_DIRECTORY:
        return g_strdup("uftrace directory");
    default:
        return g_strdup("etrace stream");
    }
}

const char *gt_info_clock(const struct gt_info *i)
{
    if (!gt_stats_text(&i->stats, GT_STATS_HOST_CLOCK))
        return NULL;
    uint64_t host = gt_stats_number(&i->stats, GT_STATS_HOST_CLOCK);
    if (host == 0)
        return "insn";
    return host < gt_stats_number(&i->stats, "processes") ? "mixed" : "host";
}

char *gt_info_exit(int status)
{
    if (WIFSIGNALED(status))
        return g_strdup_printf("killed by signal %d (%s)", WTERMSIG(status),
                               strsignal(WTERMSIG(status)));
    return g_strdup_printf("exit status %d", WEXITSTATUS(status));
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The rest of the line of the info file that begins with `name`; NULL: there is none. The caller
 * frees it. */
static char *info_line(const struct gt_calls *c, const char *name)
{
    size_t size, length = strlen(name);
    char *text = gt_calls_text(c, "info", &size), *found = NULL;
    for (char *at = text, *end = text ? text + size : NULL; at < end && !found;) {
        char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        if ((size_t)(stop - at) >= length && memcmp(at, name, length) == 0)
            found = g_strndup(at + length, (size_t)(stop - at) - length);
        at = stop + 1;
    }
    free(text);
    return found;
}

/* When the recording's info was written; 0: not known. */
static time_t written_at(const struct gt_calls_facts *f)
{
    g_autofree char *path =
        f->form == GT_CALLS_DIRECTORY ? g_build_filename(f->path, "info", NULL) : g_strdup(f->path);
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mtime : 0;
}

static int read_stats(const struct gt_calls *c, struct gt_stats *out, struct gt_error *err)
{
    size_t size;
    *out = (struct gt_stats){0};
    char *text = gt_calls_text(c, GT_STATS_FILE, &size);
    int status = text ? gt_stats_parse(out, text) : 0;
    return status < 0 ? gt_error_set(err, status, "out of memory") : 0;
}

int gt_info_read(struct gt_reading *r, struct gt_info *i, struct gt_error *err)
{
    *i = (struct gt_info){.reader = r, .facts = gt_calls_facts(r->calls)};
    int status = read_stats(r->calls, &i->stats, err);
    if (status == 0)
        status = gt_counts_make(r->calls, &i->counts, err);
    for (size_t k = 0; status == 0 && k < gt_calls_n_tasks(r->calls); k++) {
        i->calls += i->counts.task[k].calls;
        i->events += i->counts.task[k].events;
        i->lost += i->counts.task[k].lost;
        i->deepest = MAX(i->deepest, i->counts.task[k].deepest);
    }
    i->when = written_at(i->facts);
    i->date = info_line(r->calls, "record_date:");
    i->elapsed = info_line(r->calls, "elapsed_time:");
    return status;
}

void gt_info_clear(struct gt_info *i)
{
    gt_counts_clear(&i->counts);
    gt_stats_clear(&i->stats);
    g_free(i->date);
    g_free(i->elapsed);
}
