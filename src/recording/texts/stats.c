/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guesttrace.stats: see stats.h. */
#include "recording/texts/stats.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void gt_recording_stats_put(struct gt_text *out, const char *key, uint64_t value)
{
    gt_text_printf(out, "%s=%" PRIu64 "\n", key, value);
}

/* Splits the next line off: *at moves past it. False: no line with '=' follows. */
static bool next(char **at, struct gt_recording_stat *out)
{
    while (**at) {
        char *line = *at, *end = line + strcspn(line, "\n");
        *at = *end ? end + 1 : end;
        *end = '\0';
        char *equals = strchr(line, '=');
        if (!equals)
            continue;
        *equals = '\0';
        *out = (struct gt_recording_stat){line, equals + 1};
        return true;
    }
    return false;
}

int gt_recording_stats_parse(struct gt_recording_stats *out, char *text)
{
    *out = (struct gt_recording_stats){.text = text};
    if (!text)
        return 0;
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    out->item = calloc(lines, sizeof *out->item);
    if (!out->item) {
        gt_recording_stats_clear(out);
        return GT_E_NOMEM;
    }
    for (char *at = text; next(&at, &out->item[out->n]);)
        out->n++;
    return 0;
}

void gt_recording_stats_clear(struct gt_recording_stats *s)
{
    free(s->item);
    free(s->text);
    *s = (struct gt_recording_stats){0};
}

const char *gt_recording_stats_text(const struct gt_recording_stats *s, const char *key)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->item[i].key, key) == 0)
            return s->item[i].value;
    return NULL;
}

uint64_t gt_recording_stats_number(const struct gt_recording_stats *s, const char *key)
{
    const char *text = gt_recording_stats_text(s, key);
    uint64_t n;
    return text && gt_text_number_parse(text, &n) == 0 ? n : 0;
}
