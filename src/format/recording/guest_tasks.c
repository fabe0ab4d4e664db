/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a Linux guest: see guest_tasks.h. */
#include "format/recording/guest_tasks.h"

#include <inttypes.h>
#include <stdio.h>

void gt_guest_task_put(struct gt_text *out, const struct gt_guest_task *t)
{
    gt_text_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %s\n", t->task, t->pid, t->tgid,
                   t->comm);
}

/* Digits and the blank after them; at most 10 digits, below 2^32. */
static const char *parse_number(const char *at, uint32_t *out)
{
    uint64_t n = 0;
    const char *begin = at;
    for (; *at >= '0' && *at <= '9' && at < begin + 10; at++)
        n = 10 * n + (uint64_t)(*at - '0');
    *out = (uint32_t)n;
    return at > begin && *at == ' ' && n <= UINT32_MAX ? at + 1 : NULL;
}

bool gt_guest_task_parse(const char *line, struct gt_guest_task *out)
{
    const char *at = parse_number(line, &out->task);
    at = at ? parse_number(at, &out->pid) : NULL;
    at = at ? parse_number(at, &out->tgid) : NULL;
    if (at)
        snprintf(out->comm, sizeof out->comm, "%s", at);
    return at != NULL;
}
