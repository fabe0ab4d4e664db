/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a Linux guest: see guest_tasks.h. */
#include "recording/texts/guest_tasks.h"

#include "base/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void gt_guest_task_put(struct gt_text *out, const struct gt_guest_task *t)
{
    gt_text_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %s\n", t->task, t->pid, t->tgid,
                   t->comm);
}

/* A number of at most 10 digits, and the blank after it. */
static bool take_number(struct gt_cursor *c, uint32_t *out)
{
    enum { DIGITS = 10 };
    uint64_t n;
    size_t before = c->left;
    if (!gt_take_dec(c, UINT32_MAX, &n) || before - c->left > DIGITS || !gt_take(c, " "))
        return false;
    *out = (uint32_t)n;
    return true;
}

bool gt_guest_task_parse(const char *line, struct gt_guest_task *out)
{
    struct gt_cursor c = {line, strlen(line)};
    if (!take_number(&c, &out->task) || !take_number(&c, &out->pid) || !take_number(&c, &out->tgid))
        return false;
    snprintf(out->comm, sizeof out->comm, "%s", c.at);
    return true;
}
