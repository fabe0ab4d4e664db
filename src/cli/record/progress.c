/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on standard error: see progress.h, and recording.h. */
#include "cli/record/progress.h"
#include "base/clock.h"

#include "cli/amount.h"
#include "cli/record/recording.h"

#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define CLEAR_TO_END "\033[K"

static void put(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n; /* a terminal that went away needs no progress */
}

bool gt_record_progress_possible(void)
{
    return isatty(STDERR_FILENO);
}

void gt_record_progress_start(struct gt_record_progress *p, const char *dir, uint64_t record)
{
    *p = (struct gt_record_progress){.dir = dir, .record = record};
    p->start = gt_base_clock_monotonic();
}

/* Of the records: of a directory's files, or of a compact file. */
static uint64_t size_of_data(const char *dir, bool *is_file)
{
    uint64_t total = 0;
    struct stat output;
    *is_file = stat(dir, &output) == 0 && S_ISREG(output.st_mode);
    if (*is_file)
        return (uint64_t)output.st_size;
    GDir *d = g_dir_open(dir, 0, NULL);
    if (!d)
        return 0;
    for (const char *name; (name = g_dir_read_name(d));) {
        struct stat st;
        g_autofree char *path = g_build_filename(dir, name, NULL);
        if (g_str_has_suffix(name, ".dat") && stat(path, &st) == 0)
            total += (uint64_t)st.st_size;
    }
    g_dir_close(d);
    return total;
}

static bool terminal_is_ours(void)
{
    struct termios t;
    return tcgetpgrp(STDERR_FILENO) == getpgrp() && tcgetattr(STDERR_FILENO, &t) == 0 &&
           t.c_lflag & ICANON;
}

double gt_record_progress_seconds(const struct gt_record_progress *p)
{
    return (double)(gt_base_clock_monotonic() - p->start) / 1e9;
}

void gt_record_progress_tick(void *progress)
{
    struct gt_record_progress *p = progress;
    if (!terminal_is_ours())
        return;
    bool is_file;
    uint64_t bytes = size_of_data(p->dir, &is_file);
    g_autofree char *records = gt_cli_amount_short(bytes / p->record);
    g_autofree char *size = gt_cli_amount_short(bytes);
    g_autofree char *count = is_file ? g_strdup("") /* packed records have no fixed size */
                                     : g_strdup_printf("%s%srecords, ", records,
                                                       g_str_has_suffix(records, " ") ? "" : " ");
    g_autofree char *line = g_strdup_printf("\rrecording: %s%sB, %.1f s" CLEAR_TO_END "\r", count,
                                            size, gt_record_progress_seconds(p));
    put(line);
    p->shown = true;
}

void gt_record_progress_end(struct gt_record_progress *p)
{
    if (p->shown && terminal_is_ours())
        put("\r" CLEAR_TO_END);
}

/* ---- other lines ---------------------------------------------------------------------------- */

void gt_record_say(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("guesttrace record: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}
