/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The monitor's answers: see text.h. */
#include "events/library/monitor/text.h"

#include <stdarg.h>
#include <stdint.h>
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

size_t gt_monitor_utf8(const char *text, size_t n)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *c = (const unsigned char *)text;
    for (size_t size = 1; n && size <= 4 && size <= n; size++) {
        uint32_t u = c[0] & (unsigned char)~forms[size - 1].mask;
        if ((c[0] & forms[size - 1].mask) != forms[size - 1].lead)
            continue;
        for (size_t i = 1; i < size; i++) {
            if ((c[i] & 0xc0) != 0x80)
                return 0;
            u = u << 6 | (c[i] & 0x3f);
        }
        return u < forms[size - 1].least || u > 0x10ffff || (u >= 0xd800 && u < 0xe000) ? 0 : size;
    }
    return 0;
}

void gt_monitor_add_json(struct gt_monitor_text *t, const char *text)
{
    size_t n;
    gt_monitor_puts(t, "\"");
    for (const char *c = text; *c; c += n ? n : 1) {
        n = gt_monitor_utf8(c, strnlen(c, 4));
        if (*c == '\n')
            gt_monitor_puts(t, "\\n");
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            gt_monitor_printf(t, "\\u%04x", (unsigned char)*c);
        else if (*c == '"' || *c == '\\')
            gt_monitor_printf(t, "\\%c", *c);
        else if (n == 0)
            gt_monitor_puts(t, "?");
        else
            gt_monitor_add(t, c, n);
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
