/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a console: see console_lines.h. */
#include "cli/record/console_lines.h"

#include <string.h>

enum escape { NONE, STARTED, CSI, STRING };

void gt_record_console_lines_init(struct gt_record_console_lines *l)
{
    *l = (struct gt_record_console_lines){
        .line = g_array_new(FALSE, FALSE, sizeof(struct gt_record_console_line)),
        .text = g_string_new(NULL),
        .now = g_string_new(NULL),
    };
}

void gt_record_console_lines_end(struct gt_record_console_lines *l)
{
    g_autofree char *valid = g_utf8_make_valid(l->now->str, (gssize)l->now->len);
    g_string_truncate(l->now, 0);
    for (char *c = valid; (c = strstr(c, "\357\277\275")); c++) { /* U+FFFD */
        *c = '?';
        memmove(c + 1, c + 3, strlen(c + 3) + 1);
    }
    g_strchomp(valid);
    if (l->complete && (*valid || l->part))
        l->complete(l->self, valid);
    const struct gt_record_console_line line = {l->since, l->text->len, strlen(valid)};
    if (l->passes || line.length == 0 || l->text->len + line.length > GT_CONSOLE_TEXT_MAX)
        return;
    g_string_append(l->text, valid);
    g_array_append_val(l->line, line);
}

/* True where the character belongs to an escape sequence: ESC [ ... letter, ESC ] ... BEL or ESC \,
 * ESC, blanks to slashes, and one more. */
static bool take_escape(struct gt_record_console_lines *l, unsigned char c)
{
    if (c == 0x1b) {
        l->escape = STARTED;
        return true;
    }
    switch (l->escape) {
    case STARTED:
        if (c >= ' ' && c <= '/') /* ESC ( B */
            return true;
        l->escape = c == '[' ? CSI : c == ']' || c == 'P' || c == '_' || c == '^' ? STRING : NONE;
        return true;
    case CSI:
        if (c >= 0x40 && c <= 0x7e)
            l->escape = NONE;
        return c >= ' ';
    case STRING:
        if (c == 7 || c == '\n')
            l->escape = NONE;
        return c != '\n';
    default:
        return false;
    }
}

void gt_record_console_lines_add(struct gt_record_console_lines *l, const char *data, size_t n,
                                 const struct gt_record_console_time *time)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)data[i];
        if (take_escape(l, c))
            continue;
        if (c == '\n')
            gt_record_console_lines_end(l);
        if ((c < ' ' && c != '\t') || c == 0x7f || l->now->len >= GT_CONSOLE_LINE_MAX)
            continue;
        if (l->now->len == 0)
            l->since = *time;
        g_string_append_c(l->now, c == '\t' ? ' ' : (char)c);
    }
    if (l->part && l->now->len)
        l->part(l->self, l->now->str);
}

void gt_record_console_lines_write(const struct gt_record_console_lines *l, bool guest,
                                   struct gt_text *out)
{
    uint64_t last = 1;
    for (guint i = 0; i < l->line->len; i++) {
        const struct gt_record_console_line *line =
            &g_array_index(l->line, struct gt_record_console_line, i);
        last = MAX(last, guest ? line->time.guest : line->time.host);
        g_autofree char *text = g_strndup(l->text->str + line->at, line->length);
        gt_recording_extern_put(out, last, text);
    }
}

void gt_record_console_lines_clear(struct gt_record_console_lines *l)
{
    if (!l->line)
        return;
    g_array_free(l->line, TRUE);
    g_string_free(l->text, TRUE);
    g_string_free(l->now, TRUE);
    *l = (struct gt_record_console_lines){0};
}
