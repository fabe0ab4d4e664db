/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scans a TID.dat file for the calls that are open at its end. */
#include "base/array.h"
#include "recording/directory/dir_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static int push(struct gt_uftrace_scan *s, size_t *room, uint64_t word)
{
    if (s->n_open == GT_UFTRACE_SCAN_DEPTH)
        return GT_E_RANGE;
    if (!GT_ARRAY_GROW(&s->open, room, s->n_open + 1))
        return GT_E_NOMEM;
    s->open[s->n_open++] = word;
    if (s->n_open > s->depth)
        s->depth = s->n_open;
    return 0;
}

static void note_event(struct gt_uftrace_scan *s, uint64_t id)
{
    s->lost_event = id == GT_UFTRACE_EV_LOST;
    if (id == GT_UFTRACE_EV_SCHED_IN || id == GT_UFTRACE_EV_SCHED_OUT)
        s->scheduled_out = id == GT_UFTRACE_EV_SCHED_OUT;
}

int gt_uftrace_scan_step(struct gt_uftrace_scan *s, size_t *room,
                         const struct gt_uftrace_record *rec, const char **expected)
{
    int status = 0;
    if (rec->time < s->last_time) {
        *expected = "a time that does not fall";
        return GT_E_FORMAT;
    }
    uint64_t exit = gt_uftrace_exit(rec->depth, rec->addr);
    if (rec->type == GT_UFTRACE_ENTRY) {
        *expected = "fewer open calls";
        s->lost_event = false;
        status = push(s, room, exit);
    } else if (rec->type == GT_UFTRACE_EXIT) {
        *expected = "an EXIT of the innermost open call";
        if (!s->n_open || s->open[s->n_open - 1] != exit)
            return GT_E_FORMAT;
        s->n_open--;
    } else if (rec->type == GT_UFTRACE_EVENT) {
        note_event(s, rec->addr);
    }
    if (status)
        return status;
    if (!s->records++)
        s->first_time = rec->time;
    s->last_time = rec->time;
    return 0;
}

int gt_uftrace_scan(const void *data, size_t size, struct gt_uftrace_scan *out,
                    struct gt_error *err)
{
    struct gt_uftrace_scan s = {0};
    struct gt_uftrace_record rec;
    struct gt_reader r;
    struct gt_skipped values = {0};
    const char *expected = "a record";
    size_t room = 0;
    int status;
    gt_reader_init(&r, data, size);
    while ((status = gt_uftrace_record_take(&r, &values, &rec)) == 1) {
        status = gt_uftrace_scan_step(&s, &room, &rec, &expected);
        if (status)
            break;
        s.whole = size - r.left;
        expected = "a record";
    }
    if (status == 0 || status == GT_E_TRUNC) {
        *out = s;
        return 0;
    }
    free(s.open);
    return gt_error_set(err, status, "offset %" PRIu64 ": %s, expected %s", s.whole,
                        gt_status_text(status), expected);
}
