/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes over a recording: which one a window needs. */
#include "calls/read/filtered.h"
#include "calls/read/pass.h"

int gt_calls_walk(struct gt_calls *c, const struct gt_calls_window *w,
                  int (*call)(void *self, const struct gt_call *e), void *self,
                  struct gt_error *err)
{
    return (w && w->filter ? gt_filtered_walk : gt_pass_walk)(c, w, call, self, err);
}

int gt_calls_scan(struct gt_calls *c, const struct gt_calls_window *w,
                  const struct gt_calls_consumer *consumer, void *self, unsigned threads,
                  struct gt_error *err)
{
    /* Where stretches meet, only the frames are known: not what calls slept that may yet be long
     * enough to be shown. A walk knows it. */
    if (w && (w->filter || (w->min_time && !w->wall)))
        return gt_pass_scan_by_walk(gt_calls_walk, c, w, consumer, self, err);
    return gt_pass_scan(c, w, consumer, self, threads, err);
}
