/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that had not returned at the end: see open_calls.h. */
#include "format/recording/open_calls.h"

#include "base/cursor.h"

#include <inttypes.h>
#include <string.h>

void gt_open_calls_put(struct gt_text *out, uint32_t task, uint64_t time)
{
    gt_text_printf(out, "%" PRIu32 " %" PRIu64 "\n", task, time);
}

void gt_open_calls_parse(char *text, void (*take)(void *self, uint32_t task, uint64_t time),
                         void *self)
{
    char *at = NULL;
    uint64_t task, time;
    for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
        struct gt_cursor c = {line, strlen(line)};
        if (gt_take_dec(&c, UINT32_MAX, &task) && gt_take(&c, " ") &&
            gt_take_dec(&c, UINT64_MAX, &time) && c.left == 0)
            take(self, (uint32_t)task, time);
    }
}
