/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: the initcalls of Linux, as one block: rows, and behind them their texts. */
#include "calls/profile/initcalls.h"
#include "gtrace/private.h"

#include <stdlib.h>
#include <string.h>

static struct gtrace_initcall *rows_of(struct gtrace *t, const struct gt_profile_initcalls *all)
{
    size_t bytes = (all->n + 1) * sizeof(struct gtrace_initcall);
    const size_t texts = bytes;
    for (size_t i = 0; i < all->n; i++)
        bytes += all->row[i].result ? strlen(all->row[i].result) + 1 : 0;
    char *block = calloc(1, bytes), *text = block + texts;
    struct gtrace_initcall *row = (void *)block;
    for (size_t i = 0; block && i < all->n; i++) {
        const struct gt_profile_initcall *of = &all->row[i];
        const struct gt_call e = {.kind = GT_CALL_EXIT, .flags = of->flags};
        row[i] = (struct gtrace_initcall){.begin = of->begin,
                                          .end = of->end,
                                          .self = of->self,
                                          .slept = of->slept,
                                          .task = of->task,
                                          .function = of->function,
                                          .depth = of->depth,
                                          .flags = gt_gtrace_flags(t, &e) & ~GTRACE_PART};
        if (!of->result)
            continue;
        const size_t n = strlen(of->result) + 1;
        row[i].result = memcpy(text, of->result, n);
        text += n;
    }
    return row;
}

API int64_t gtrace_initcalls(struct gtrace *t, const struct gtrace_window *w,
                             struct gtrace_initcall **out, size_t *stride, struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gt_profile_initcalls all;
    struct gt_error e = {0};
    *out = NULL;
    *stride = sizeof **out;
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    status = gt_profile_initcalls_make(t->calls, &pass.window, 0, &all, &e);
    gt_gtrace_pass_finish(&pass);
    if (status == 0) {
        *out = rows_of(t, &all);
        status = *out ? 0 : GT_E_NOMEM;
    }
    const int64_t n = (int64_t)all.n;
    gt_profile_initcalls_clear(&all);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : n;
}
