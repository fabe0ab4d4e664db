/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that are read at run time: see dynamic.h. */
#include "events/library/dynamic/dynamic.h"
#include "events/library/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pass {
    struct gt_events_dynamic_events *out;
    size_t room;
    char *texts;
    const char *file;
    unsigned word, backends, number, errors;
    struct gt_trace_error *err;
};

static int report(struct pass *p, const char *line, const char *where,
                  const struct gt_trace_error *err)
{
    if (!p->errors++)
        gt_events_fail(p->err, GT_TRACE_E_FORMAT, "%s:%u:%zu: %.300s", p->file, p->number,
                       (size_t)(where - line) + 1, err->text);
    return GT_TRACE_E_FORMAT;
}

/* ---- types --------------------------------------------------------------------------------- */

static bool is(const char *at, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(at, word, n) == 0;
}

/* Bytes of a type of one word; 0: it is none. */
static unsigned size_of_word(const char *at, size_t n, unsigned word)
{
    static const struct {
        const char *name;
        uint8_t bytes; /* 0: a word */
    } types[] = {{"int8_t", 1},  {"int16_t", 2},  {"int32_t", 4},   {"int64_t", 8},
                 {"uint8_t", 1}, {"uint16_t", 2}, {"uint32_t", 4},  {"uint64_t", 8},
                 {"bool", 1},    {"char", 1},     {"short", 2},     {"size_t", 0},
                 {"ssize_t", 0}, {"intptr_t", 0}, {"uintptr_t", 0}, {"ptrdiff_t", 0}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(at, n, types[i].name))
            return types[i].bytes ? types[i].bytes : word;
    return 0;
}

/* Bytes of an integer's type; 0: it is not known. */
static unsigned size_of(struct gt_events_span type, unsigned word)
{
    unsigned longs = 0, size = 0;
    bool known = false;
    const char *end = type.at + type.n;
    for (const char *at = type.at; at < end;) {
        const char *stop = at;
        while (stop < end && *stop != ' ' && *stop != '\t')
            stop++;
        size_t n = (size_t)(stop - at);
        unsigned one = size_of_word(at, n, word);
        if (is(at, n, "long"))
            longs++;
        else if (one)
            size = one;
        else if (n && !is(at, n, "int") && !is(at, n, "unsigned") && !is(at, n, "signed") &&
                 !is(at, n, "const"))
            return 0;
        known |= n && !is(at, n, "const");
        at = stop + (stop < end);
    }
    return !known ? 0 : longs > 1 ? 8 : longs ? word : size ? size : 4;
}

/* ---- declarations -------------------------------------------------------------------------- */

static const char *keep(struct pass *p, struct gt_events_span s)
{
    char *text = p->texts;
    memcpy(text, s.at, s.n);
    text[s.n] = '\0';
    p->texts += s.n + 1;
    return text;
}

static int take_arguments(struct pass *p, const struct gt_events_line *e,
                          struct gt_events_dynamic_event *out, const char **where,
                          struct gt_trace_error *err)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_events_argument *a = &e->arguments[i];
        bool pointer = a->kind == GT_TRACE_POINTER || a->kind == GT_TRACE_STRING;
        unsigned size = pointer ? p->word : size_of(a->type, p->word);
        *where = a->type.at;
        if (!size)
            return gt_events_fail(err, GT_TRACE_E_FORMAT,
                                  "type '%.*s' is not known: expected an integer of C or a pointer",
                                  a->type.n > 64 ? 64 : (int)a->type.n, a->type.at);
        out->argument[i] =
            (struct gt_events_dynamic_argument){keep(p, a->name), a->kind, (uint8_t)size};
    }
    out->n_arguments = e->n_arguments;
    return 0;
}

static int take(struct pass *p, const struct gt_events_line *e, const char *end,
                struct gt_events_dynamic_event *out, const char **where, struct gt_trace_error *err)
{
    *where = e->name.at;
    if (e->tcg)
        return gt_events_fail(err, GT_TRACE_E_FORMAT, "'tcg' is for events of QEMU's translator");
    if (e->name.at[0] >= '0' && e->name.at[0] <= '9')
        return gt_events_fail(err, GT_TRACE_E_FORMAT, "event name '%.*s' begins with a digit",
                              e->name.n > 64 ? 64 : (int)e->name.n, e->name.at);
    *out = (struct gt_events_dynamic_event){.line = p->number};
    out->event = (struct gt_trace_event){.name = keep(p, e->name),
                                         .state = e->disable ? NULL : &out->state,
                                         .backends = (uint16_t)p->backends,
                                         .enabled = !e->disable,
                                         .vcpu = e->vcpu};
    out->at = e->at.n ? keep(p, e->at) : NULL;
    int status = take_arguments(p, e, out, where, err);
    return status < 0 ? status
                      : gt_events_dynamic_parse_format(out, e->after, end, &p->texts, where, err);
}

static void read_line(struct pass *p, const char *line, const char *end)
{
    struct gt_events_line e;
    struct gt_trace_error err;
    const char *where = line;
    int status = gt_events_line_read(line, (size_t)(end - line), &e, &where, &err);
    if (status > 0) {
        status = take(p, &e, end, &p->out->event[p->out->n], &where, &err);
        p->out->n += status == 0;
    }
    if (status < 0)
        report(p, line, where, &err);
}

static size_t count_lines(const char *text, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n';
    return n;
}

static int compare(const void *a, const void *b)
{
    const struct gt_trace_event *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Of the list, which is sorted for that. */
static void find_twice(struct pass *p)
{
    struct gt_events_dynamic_events *d = p->out;
    for (size_t i = 0; i < d->n; i++)
        d->list[i] = &d->event[i].event;
    qsort(d->list, d->n, sizeof *d->list, compare);
    for (size_t i = 1; i < d->n; i++) {
        const struct gt_events_dynamic_event *a = (const void *)d->list[i - 1],
                                             *b = (const void *)d->list[i];
        if (strcmp(a->event.name, b->event.name) == 0 && !p->errors++)
            gt_events_fail(p->err, GT_TRACE_E_FORMAT,
                           "%s:%u:1: event '%.200s' is declared before, in line %u", p->file,
                           b->line, b->event.name, a->line);
    }
    for (size_t i = 0; i < d->n; i++)
        d->list[i] = &d->event[i].event;
}

int gt_events_dynamic_read(struct gt_events_dynamic_events *out, const char *name, const char *text,
                           size_t size, unsigned word, unsigned backends,
                           struct gt_trace_error *err)
{
    size_t lines = count_lines(text, size);
    *out = (struct gt_events_dynamic_events){.event = calloc(lines, sizeof *out->event),
                                             .list = calloc(lines, sizeof *out->list),
                                             .texts =
                                                 malloc(2 * size + 1)}; /* a NUL after each text */
    if (!out->event || !out->list || !out->texts) {
        gt_events_dynamic_free(out);
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", name);
    }
    struct pass p = {.out = out,
                     .texts = out->texts,
                     .file = name,
                     .word = word,
                     .backends = backends,
                     .err = err};
    const char *end = text + size, *stop;
    for (const char *line = text; line < end; line = stop + (stop < end)) {
        stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        p.number++;
        read_line(&p, line, stop);
    }
    find_twice(&p);
    if (p.errors > 1 && err)
        snprintf(err->text + strlen(err->text), sizeof err->text - strlen(err->text),
                 " (and %u more errors)", p.errors - 1);
    if (p.errors) {
        gt_events_dynamic_free(out);
        return GT_TRACE_E_FORMAT;
    }
    out->group = (struct gt_trace_group)GT_TRACE_GROUP(name, out->list, (uint32_t)out->n);
    return 0;
}

void gt_events_dynamic_free(struct gt_events_dynamic_events *d)
{
    free(d->event);
    free(d->list);
    free(d->texts);
    *d = (struct gt_events_dynamic_events){0};
}
