/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guesttrace.stats: see stats.h. */
#include "format/recording/stats.h"

#include <inttypes.h>
#include <string.h>

void gt_stats_put(struct gt_text *out, const char *key, uint64_t value)
{
    gt_text_printf(out, "%s=%" PRIu64 "\n", key, value);
}

bool gt_stats_next(char **at, const char **key, const char **value)
{
    while (**at) {
        char *line = *at, *end = line + strcspn(line, "\n");
        *at = *end ? end + 1 : end;
        *end = '\0';
        char *equals = strchr(line, '=');
        if (!equals)
            continue;
        *equals = '\0';
        *key = line;
        *value = equals + 1;
        return true;
    }
    return false;
}
