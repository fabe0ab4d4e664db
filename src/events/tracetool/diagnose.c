/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors in events files: see diagnose.h. */
#include "events/tracetool/diagnose.h"

#include <glib.h>
#include <stdlib.h>

struct gt_tracetool_diagnostic {
    char *path, *message;
    char *line; /* NULL: a message without a place */
    unsigned file, number;
    size_t offset; /* in the line, bytes */
    size_t order;  /* of arrival */
};

static struct gt_tracetool_diagnostic *add(struct gt_tracetool_diagnostics *d, const char *path,
                                           char *message)
{
    if (d->n == d->room) {
        d->room = d->room ? d->room * 2 : 16;
        d->list = g_realloc_n(d->list, d->room, sizeof *d->list);
    }
    d->list[d->n] = (struct gt_tracetool_diagnostic){
        .path = g_strdup(path), .message = message, .file = d->files, .order = d->n};
    return &d->list[d->n++];
}

void gt_tracetool_diagnose(struct gt_tracetool_diagnostics *d, const struct gt_tracetool_line *line,
                           const char *at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    struct gt_tracetool_diagnostic *new = add(d, line->path, g_strdup_vprintf(format, ap));
    va_end(ap);
    new->line = g_strndup(line->text, (size_t)(line->end - line->text));
    new->file = line->file;
    new->number = line->number;
    new->offset = (size_t)(at - line->text);
}

void gt_tracetool_diagnose_plain(struct gt_tracetool_diagnostics *d, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(d, NULL, g_strdup_vprintf(format, ap));
    va_end(ap);
}

static int compare(const void *a, const void *b)
{
    const struct gt_tracetool_diagnostic *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static bool is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

/* The line as a terminal can show it, and the caret below the character meant. */
static void show_line(const struct gt_tracetool_diagnostic *d, struct gt_text *out)
{
    for (const char *p = d->line; *p; p++)
        gt_text_add(out, is_control(*p) ? "?" : p, 1);
    gt_text_add(out, "\n", 1);
    for (const char *p = d->line; *p && p < d->line + d->offset; p++)
        if (!continues_character(*p))
            gt_text_add(out, *p == '\t' ? "\t" : " ", 1);
    gt_text_add(out, "^\n", 2);
}

static unsigned column_of(const struct gt_tracetool_diagnostic *d)
{
    unsigned column = 1;
    for (const char *p = d->line; *p && p < d->line + d->offset; p++)
        column += !continues_character(*p);
    return column;
}

void gt_tracetool_diagnostics_show(struct gt_tracetool_diagnostics *d, struct gt_text *out)
{
    if (d->n)
        qsort(d->list, d->n, sizeof *d->list, compare);
    for (size_t i = 0; i < d->n; i++) {
        const struct gt_tracetool_diagnostic *this = &d->list[i];
        if (!this->line) {
            gt_text_printf(out, "%s\n", this->message);
            continue;
        }
        gt_text_printf(out, "%s:%u:%u: %s\n", this->path, this->number, column_of(this),
                       this->message);
        show_line(this, out);
    }
}

void gt_tracetool_diagnostics_free(struct gt_tracetool_diagnostics *d)
{
    for (size_t i = 0; i < d->n; i++) {
        g_free(d->list[i].path);
        g_free(d->list[i].message);
        g_free(d->list[i].line);
    }
    g_free(d->list);
    *d = (struct gt_tracetool_diagnostics){0};
}
