/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The monitor's answers: see text.h. */
#include "events/library/monitor/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct gt_monitor_text *t, size_t n)
{
    if (t->failed || n >= GT_MONITOR_TEXT_LIMIT - t->n) {
        t->failed = true;
        return false;
    }
    if (t->room - t->n > n)
        return true;
    size_t room = 2 * t->room + n + 256;
    char *data = realloc(t->data, room);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->room = room;
    return true;
}

void gt_monitor_add(struct gt_monitor_text *t, const void *data, size_t n)
{
    if (!make_room(t, n))
        return;
    if (n)
        memcpy(t->data + t->n, data, n);
    t->n += n;
    t->data[t->n] = '\0';
}

void gt_monitor_puts(struct gt_monitor_text *t, const char *text)
{
    gt_monitor_add(t, text, strlen(text));
}

void gt_monitor_printf(struct gt_monitor_text *t, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    if (n >= 0 && make_room(t, (size_t)n)) {
        vsnprintf(t->data + t->n, (size_t)n + 1, format, again);
        t->n += (size_t)n;
    }
    va_end(again);
    va_end(ap);
}

void gt_monitor_add_json(struct gt_monitor_text *t, const char *text)
{
    gt_monitor_puts(t, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '\n')
            gt_monitor_puts(t, "\\n");
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            gt_monitor_printf(t, "\\u%04x", (unsigned char)*c);
        else if (*c == '"' || *c == '\\')
            gt_monitor_printf(t, "\\%c", *c);
        else
            gt_monitor_add(t, c, 1);
    }
    gt_monitor_puts(t, "\"");
}

void gt_monitor_free(struct gt_monitor_text *t)
{
    free(t->data);
    *t = (struct gt_monitor_text){0};
}

void gt_monitor_add_version(struct gt_monitor_text *t)
{
    int major = 0, minor = 0, micro = 0;
    sscanf(GT_VERSION, "%d.%d.%d", &major, &minor, &micro);
    gt_monitor_printf(t,
                      "{\"qemu\": {\"micro\": %d, \"minor\": %d, \"major\": %d}, "
                      "\"package\": \"guesttrace\"}",
                      micro, minor, major);
}
