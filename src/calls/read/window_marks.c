/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the console in a window: see window_marks.h. */
#include "calls/read/window_marks.h"

const struct gt_calls_mark *gt_calls_marks_in(const struct gt_calls *c,
                                              const struct gt_calls_window *w, size_t *n)
{
    size_t all;
    const struct gt_calls_mark *first = gt_calls_marks(c, &all), *end = first + all;
    while (w && first < end && first->time < w->from)
        first++;
    while (w && w->to && first < end && end[-1].time > w->to)
        end--;
    *n = (size_t)(end - first);
    return first;
}
