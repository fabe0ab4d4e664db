/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a client's message ends: see scan.h. */
#include "events/library/monitor/scan.h"

#include <string.h>

bool gt_monitor_scan_object(struct gt_monitor_scan *s, const char *in, size_t fill, size_t *end)
{
    while (s->scanned < fill) {
        char at = in[s->scanned++];
        if (s->escaped) {
            s->escaped = false;
        } else if (s->quoted) {
            s->escaped = at == '\\';
            s->quoted = at != '"';
        } else if (at == '"') {
            s->quoted = true;
        } else if (at == '{' || at == '[') {
            s->depth++;
        } else if ((at == '}' || at == ']') && --s->depth == 0) {
            *end = s->scanned;
            return true;
        }
    }
    return false;
}

bool gt_monitor_scan_line(struct gt_monitor_scan *s, const char *in, size_t fill, size_t *end)
{
    const char *newline = memchr(in + s->scanned, '\n', fill - s->scanned);
    s->scanned = fill;
    *end = newline ? (size_t)(newline - in) + 1 : fill;
    return newline;
}

size_t gt_monitor_blanks(const char *in, size_t fill)
{
    size_t n = 0;
    while (n < fill && (in[n] == ' ' || in[n] == '\t' || in[n] == '\r' || in[n] == '\n'))
        n++;
    return n;
}
