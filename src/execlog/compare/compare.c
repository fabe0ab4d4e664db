/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads two logs in turn until their lines differ: see compare.h. */
#include "execlog/compare/compare.h"

#include "execlog/compare/source.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_WAITING = 1 << 30 }; /* bytes of lines that one log has and the other not yet */

static int take_lines(void *user, const char *text, size_t n, uint64_t line)
{
    const struct gt_diff_feed *feed = user;
    const char *end = text + n, *at = text;
    if (feed->diff->abreast)
        at += gt_diff_skip_lines(feed->diff, feed->side, text, n);
    line += gt_diff_lines_count(text, (size_t)(at - text));
    for (const char *begin = at; at < end; begin = at) {
        struct gt_diff_sequence *q = gt_diff_sequence_of(feed->diff, gt_diff_next_run(&at, end));
        if (!q->reported)
            gt_diff_sequence_add(q, feed->side, begin, (size_t)(at - begin), line);
        if (at < end)
            line += gt_diff_lines_count(begin, (size_t)(at - begin));
    }
    return 0;
}

/* ---- sequences ----------------------------------------------------------------------------- */

/* One log has ended, the other goes on. */
static bool ends_early(const struct gt_diff *d, const struct gt_diff_sequence *q)
{
    for (int i = 0; i < 2; i++)
        if (d->side[i].ended && !q->side[i].first && q->side[!i].first)
            return true;
    return false;
}

static void look_at(struct gt_diff *d, struct gt_diff_sequence *q, GString *out)
{
    if (q->reported)
        return;
    gt_diff_sequence_compare(q);
    q->parted |= ends_early(d, q);
    if (!q->parted)
        return;
    for (int i = 0; i < 2; i++)
        if (!d->side[i].ended && !gt_diff_sequence_has(q, i, MAX(d->context + 1, GT_DIFF_AHEAD)))
            return;
    d->differs = true;
    gt_diff_report(d, q, out);
    q->reported = true;
    gt_diff_sequence_drop(q);
}

/* Bytes that wait on each side; whether all that was seen has parted. */
static bool look_at_all(struct gt_diff *d, size_t waiting[2], GString *out)
{
    bool reported = d->sequences->len > 0;
    waiting[0] = waiting[1] = 0;
    for (guint i = 0; i < d->sequences->len; i++) {
        struct gt_diff_sequence *q = d->sequences->pdata[i];
        look_at(d, q, out);
        waiting[0] += q->side[0].bytes;
        waiting[1] += q->side[1].bytes;
        reported &= q->reported;
    }
    return reported;
}

/* The side that is to be read on; where nothing waits and one log is binary, that one: its lines
 * are compared as they are made. */
static int next_side(const struct gt_diff *d, const size_t waiting[2])
{
    if (d->side[0].ended || d->side[1].ended)
        return d->side[0].ended;
    return waiting[0] == waiting[1] ? d->side[1].r && !d->side[0].r : waiting[1] < waiting[0];
}

static int read_on(struct gt_diff *d, const size_t waiting[2], struct gt_error *err)
{
    if (waiting[0] + waiting[1] > MOST_WAITING)
        return gt_error_set(
            err, GT_E_RANGE,
            "a vCPU's lines in one log are more than %d MiB ahead of those in the other",
            MOST_WAITING >> 20);
    d->abreast = waiting[0] + waiting[1] == 0;
    int status = d->abreast ? gt_diff_skip(d, err) : 0;
    return status ? status : gt_diff_source_step(&d->side[next_side(d, waiting)], err);
}

static int compare(struct gt_diff *d, GString *out, struct gt_error *err)
{
    size_t waiting[2] = {0};
    int status = 0;
    while (status >= 0 && !look_at_all(d, waiting, out) && !(d->side[0].ended && d->side[1].ended))
        status = read_on(d, waiting, err);
    return status;
}

/* ---- both logs ----------------------------------------------------------------------------- */

static int open_both(struct gt_diff *d, struct gt_error *err)
{
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        d->feeds[i] = (struct gt_diff_feed){d, i};
        d->side[i].lines = take_lines;
        d->side[i].user = &d->feeds[i];
        status = gt_diff_source_open(&d->side[i], d->notices, d->names[i], err);
    }
    d->values = status == 0 && gt_diff_source_has_values(&d->side[0]) &&
                gt_diff_source_has_values(&d->side[1]);
    for (int i = 0; i < 2 && status == 0; i++)
        status = gt_diff_source_begin(&d->side[i], d->values, err);
    return status;
}

static void free_sequence(void *q)
{
    gt_diff_sequence_free(q);
}

void gt_diff_init(struct gt_diff *d, const char *const names[2], size_t context,
                  const struct gt_error_notices *notices)
{
    *d = (struct gt_diff){
        .notices = notices,
        .names = {names[0], names[1]},
        .by_vcpu = g_hash_table_new(g_int64_hash, g_int64_equal),
        .sequences = g_ptr_array_new_with_free_func(free_sequence),
        .context = context,
    };
    for (int i = 0; i < 2; i++)
        d->side[i].in = (struct gt_recording_input){.fd = -1, .listener.fd = -1};
}

int gt_diff_run(struct gt_diff *d, GString *out, struct gt_error *err)
{
    int status = open_both(d, err);
    return status < 0 ? status : compare(d, out, err);
}

void gt_diff_clear(struct gt_diff *d)
{
    for (int i = 0; i < 2; i++)
        gt_diff_source_close(&d->side[i]);
    g_hash_table_destroy(d->by_vcpu);
    g_ptr_array_free(d->sequences, TRUE);
}
