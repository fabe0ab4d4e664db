/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flight recorders: see flight.h. */
#include "cli/record/flight.h"

#include "base/number.h"
#include "calls/file/split.h"
#include "recording/texts/files.h"
#include "recording/texts/message.h"

#include <signal.h>
#include <string.h>

/* --split and --size-limit. */
static int check_limits(const struct gt_record_options *o, bool compact, struct gt_error *err)
{
    struct gt_compact_limits limits;
    struct gt_error why;
    const char *option = o->split ? "--split" : "--size-limit";
    if (!o->split && !o->size_limit)
        return 0;
    if (!compact)
        return gt_error_set(err, GT_E_USAGE,
                            "%s: only compact recordings are split or limited; leave "
                            "--format out",
                            option);
    if (o->last)
        return gt_error_set(err, GT_E_USAGE,
                            "%s: a flight recorder (--last) has a size of its own; leave one of "
                            "them out",
                            option);
    if (gt_compact_limits_parse(o->split, o->size_limit, &limits, &why) < 0)
        return gt_error_set(err, GT_E_USAGE, "--%s", why.text);
    return 0;
}

int gt_record_flight_check(const struct gt_record_recording *r, struct gt_error *err)
{
    struct gt_compact_flight_limit limit;
    struct gt_error why;
    int status = check_limits(r->opt, r->compact, err);
    if (status < 0 || !r->opt->last)
        return status;
    if (!r->compact)
        return gt_error_set(err, GT_E_USAGE,
                            "--last %s: only compact recordings have a flight recorder; leave "
                            "--format out",
                            r->opt->last);
    if (gt_compact_flight_parse(r->opt->last, &limit, &why) < 0)
        return gt_error_set(err, GT_E_USAGE, "--last %s", why.text);
    return 0;
}

/* ---- files --------------------------------------------------------------------------------- */

/* The number of a snapshot of that file name, from 1 on; 0: it is none. */
static uint64_t number_of(const char *base, const char *name)
{
    uint64_t n;
    if (!g_str_has_prefix(name, base) || name[strlen(base)] != '.')
        return 0;
    const char *digits = name + strlen(base) + 1;
    return *digits >= '1' && *digits <= '9' && gt_text_number_parse(digits, &n) == 0 ? n : 0;
}

static gint compare(gconstpointer a, gconstpointer b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static GArray *numbers(const struct gt_record_recording *r)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_autofree char *folder = g_path_get_dirname(r->output);
    g_autofree char *base = g_path_get_basename(r->output);
    g_autoptr(GDir) d = g_dir_open(folder, 0, NULL);
    for (const char *name; d && (name = g_dir_read_name(d));) {
        uint64_t n = number_of(base, name);
        if (n)
            g_array_append_val(list, n);
    }
    g_array_sort(list, compare);
    return list;
}

void gt_record_flight_mark(struct gt_record_recording *r)
{
    r->snapshots_before = numbers(r);
}

static bool was_there(const struct gt_record_recording *r, uint64_t n)
{
    for (guint i = 0; i < r->snapshots_before->len; i++)
        if (g_array_index(r->snapshots_before, uint64_t, i) == n)
            return true;
    return false;
}

GPtrArray *gt_record_flight_files(const struct gt_record_recording *r)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) now = numbers(r);
    if (gt_record_output_has_begun(r))
        g_ptr_array_add(files, g_strdup(r->output));
    for (guint i = 0; i < now->len; i++) {
        uint64_t n = g_array_index(now, uint64_t, i);
        if (!was_there(r, n))
            g_ptr_array_add(files, g_strdup_printf("%s.%" G_GUINT64_FORMAT, r->output, n));
    }
    return files;
}

bool gt_record_flight_is_open(const struct gt_record_recording *r)
{
    struct gt_repair_mark info;
    gt_repair_mark(r->dir, "info", &info);
    return gt_compact_flight_is(r->dir) && info.ino && !gt_repair_mark_same(&info, &r->info_before);
}

/* ---- snapshots ----------------------------------------------------------------------------- */

bool gt_record_flight_signal(void *recording, int sig)
{
    const struct gt_record_recording *r = recording;
    if (sig != SIGUSR2)
        return false;
    g_autofree char *path = g_build_filename(r->dir, GT_MESSAGE_FIFO, NULL);
    if (gt_recording_message_send(path, GT_MESSAGE_SNAPSHOT, NULL))
        gt_record_say(
            "no snapshot: the first process of the recording has not begun, or has ended");
    return true;
}
