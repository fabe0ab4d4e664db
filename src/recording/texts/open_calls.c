/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that had not returned at the end: see open_calls.h. */
#include "recording/texts/open_calls.h"

#include "base/cursor.h"

#include <inttypes.h>
#include <string.h>

void gt_open_calls_put(struct gt_text *out, uint32_t task, uint64_t time, uint32_t depth)
{
    gt_text_printf(out, "%" PRIu32 " %" PRIu64 " %" PRIu32 "\n", task, time, depth);
}

void gt_open_calls_parse(char *text,
                         void (*take)(void *self, const struct gt_open_calls_line *line),
                         void *self)
{
    char *at = NULL;
    uint64_t task, time, depth = UINT32_MAX;
    for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
        struct gt_cursor c = {line, strlen(line)};
        if (gt_take_dec(&c, UINT32_MAX, &task) && gt_take(&c, " ") &&
            gt_take_dec(&c, UINT64_MAX, &time) &&
            (c.left == 0 || (gt_take(&c, " ") && gt_take_dec(&c, UINT32_MAX, &depth))) &&
            c.left == 0)
            take(self, &(struct gt_open_calls_line){(uint32_t)task, (uint32_t)depth, time});
        depth = UINT32_MAX;
    }
}
