/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The declared events of a trace-events file: see guesttrace/simpletrace.h.
 *
 * The text is parsed twice: first to find errors and count, then to fill the memory. So the events,
 * all arguments and all names are one array each. A declaration with the property "vcpu" has one
 * more argument, just before the array that it shows.
 */
#include "events/library/read/declarations.h"

#include "events/library/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 256 << 20 };

struct gt_trace_declarations {
    size_t count; /* Dropped_Event follows them */
    struct gt_trace_declaration *events;
    const struct gt_trace_declaration **sorted; /* by name, then by place; with Dropped_Event */
    struct gt_trace_argument *arguments;
    char *names;
};

/* One pass over the text: counts, and fills `into` if there is one. */
struct pass {
    struct gt_trace_declarations *into;
    size_t events, arguments, names;
    const char *file, *line;
    unsigned number;
    unsigned errors;
    struct gt_trace_error *err;
};

static const char *keep(struct pass *p, struct gt_events_span s, const char *suffix)
{
    size_t tail = strlen(suffix) + 1;
    char *name = p->into ? p->into->names + p->names : NULL;
    p->names += s.n + tail;
    if (name) {
        memcpy(name, s.at, s.n);
        memcpy(name + s.n, suffix, tail);
    }
    return name;
}

static struct gt_events_span span(const char *text)
{
    return (struct gt_events_span){text, strlen(text)};
}

static void add_argument(struct pass *p, struct gt_events_span type, struct gt_events_span name,
                         enum gt_trace_kind kind)
{
    const struct gt_trace_argument a = {keep(p, type, ""), keep(p, name, ""), kind};
    if (p->into)
        p->into->arguments[p->arguments] = a;
    p->arguments++;
}

static unsigned add_arguments(struct pass *p, const struct gt_events_line *e, bool tcg)
{
    unsigned n = 0;
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_events_argument *a = &e->arguments[i];
        if (a->tcg && !tcg)
            continue; /* known only when the guest's code runs */
        add_argument(p, a->tcg ? span("uint64_t") : a->type, a->name, a->kind);
        n++;
    }
    return n;
}

static void add_event(struct pass *p, const struct gt_events_line *e, const char *suffix, bool tcg)
{
    struct gt_trace_declaration d = {
        .name = keep(p, e->name, suffix),
        .index = p->events,
        .line = p->number,
        .disabled = e->disable,
        .vcpu = e->vcpu,
    };
    if (d.vcpu)
        add_argument(p, span("void *"), span("__cpu"), GT_TRACE_POINTER);
    if (p->into)
        d.arguments = p->into->arguments + p->arguments;
    d.n_arguments = add_arguments(p, e, tcg);
    if (p->into)
        p->into->events[p->events] = d;
    p->events++;
}

static void add_dropped(struct pass *p)
{
    const struct gt_events_line dropped = {
        .name = span("Dropped_Event"),
        .n_arguments = 1,
        .arguments = {{span("uint64_t"), span("num_events_dropped"), GT_TRACE_UNSIGNED, false}},
    };
    p->number = 0;
    add_event(p, &dropped, "", false);
}

/* Errors are counted, and the first one is kept. */
static void pass_text(struct pass *p, const char *text, size_t size)
{
    const char *end = text + size, *stop;
    for (p->line = text; p->line < end; p->line = stop < end ? stop + 1 : end) {
        struct gt_events_line e;
        struct gt_trace_error err;
        const char *where;
        stop = memchr(p->line, '\n', (size_t)(end - p->line));
        if (!stop)
            stop = end;
        p->number++;
        int status = gt_events_line_read(p->line, (size_t)(stop - p->line), &e, &where, &err);
        if (status < 0 && !p->errors++)
            gt_events_fail(p->err, status, "%s:%u:%zu: %.300s", p->file, p->number,
                           (size_t)(where - p->line) + 1, err.text);
        if (status > 0 && e.tcg) {
            add_event(p, &e, "_trans", false);
            add_event(p, &e, "_exec", true);
        } else if (status > 0) {
            add_event(p, &e, "", false);
        }
    }
    add_dropped(p);
}

static int compare(const void *a, const void *b)
{
    const struct gt_trace_declaration *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

int gt_trace_declarations_parse(struct gt_trace_declarations **out, const char *name,
                                const char *text, size_t size, struct gt_trace_error *err)
{
    struct pass count = {.file = name, .err = err};
    *out = NULL;
    pass_text(&count, text, size);
    if (count.errors > 1 && err)
        snprintf(err->text + strlen(err->text), sizeof err->text - strlen(err->text),
                 " (and %u more errors)", count.errors - 1);
    if (count.errors)
        return GT_TRACE_E_FORMAT;
    struct gt_trace_declarations *d = calloc(1, sizeof *d);
    if (d) {
        d->events = calloc(count.events, sizeof *d->events);
        d->sorted = calloc(count.events, sizeof *d->sorted);
        d->arguments = calloc(count.arguments, sizeof *d->arguments);
        d->names = malloc(count.names);
    }
    if (!d || !d->events || !d->sorted || !d->arguments || !d->names) {
        gt_trace_declarations_free(d);
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", name);
    }
    struct pass fill = {.into = d, .file = name};
    pass_text(&fill, text, size);
    d->count = fill.events - 1;
    for (size_t i = 0; i < fill.events; i++)
        d->sorted[i] = &d->events[i];
    qsort(d->sorted, fill.events, sizeof *d->sorted, compare);
    *out = d;
    return 0;
}

static int read_all(int fd, const char *path, char **text, size_t *size, struct gt_trace_error *err)
{
    size_t room = 0;
    for (;;) {
        if (*size == room) {
            char *more = realloc(*text, room = room ? 2 * room : 1 << 16);
            if (!more)
                return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", path);
            *text = more;
        }
        ssize_t n = read(fd, *text + *size, room - *size);
        if (n < 0 && errno != EINTR)
            return gt_events_fail_errno(err, errno, "%s: cannot be read", path);
        if (n == 0)
            return 0;
        *size += n > 0 ? (size_t)n : 0;
        if (*size > FILE_LIMIT)
            return gt_events_fail(err, GT_TRACE_E_RANGE, "%s: longer than %d bytes, no events file",
                                  path, FILE_LIMIT);
    }
}

int gt_trace_declarations_read(struct gt_trace_declarations **out, const char *path,
                               struct gt_trace_error *err)
{
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return gt_events_fail_errno(err, errno, "%s: cannot be opened", path);
    int status = read_all(fd, path, &text, &size, err);
    close(fd);
    if (status == 0)
        status = gt_trace_declarations_parse(out, path, text, size, err);
    free(text);
    return status;
}

void gt_trace_declarations_free(struct gt_trace_declarations *d)
{
    if (!d)
        return;
    free(d->events);
    free(d->sorted);
    free(d->arguments);
    free(d->names);
    free(d);
}

size_t gt_trace_declarations_count(const struct gt_trace_declarations *d)
{
    return d->count;
}

const struct gt_trace_declaration *gt_trace_declarations_at(const struct gt_trace_declarations *d,
                                                            size_t index)
{
    return index <= d->count ? &d->events[index] : NULL;
}

const struct gt_trace_declaration *gt_trace_declarations_find(const struct gt_trace_declarations *d,
                                                              const char *name)
{
    return gt_events_find(d, name, strlen(name));
}

const struct gt_trace_declaration *gt_events_find(const struct gt_trace_declarations *d,
                                                  const char *name, size_t n)
{
    if (memchr(name, '\0', n))
        return NULL;
    size_t low = 0, high = d->count + 1; /* the last of several of that name: simpletrace.py's */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = d->sorted[middle]->name;
        int order = strncmp(other, name, n);
        if (order < 0 || (order == 0 && !other[n]))
            low = middle + 1;
        else
            high = middle;
    }
    const struct gt_trace_declaration *found = low ? d->sorted[low - 1] : NULL;
    return found && strncmp(found->name, name, n) == 0 && !found->name[n] ? found : NULL;
}

/* ---- one line ---- */

struct parser {
    const char *at, *end;
    const char **where;
    struct gt_trace_error *err;
};

#define FAIL(p, place, ...)                                                                        \
    (*(p)->where = (place), gt_events_fail((p)->err, GT_TRACE_E_FORMAT, __VA_ARGS__))

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is(struct gt_events_span s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.at, word, s.n) == 0;
}

static int shown(struct gt_events_span s)
{
    return s.n > 64 ? 64 : (int)s.n;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && memchr(" \t\r\v\f", *p->at, 5))
        p->at++;
}

/* The next character, after blanks; 0 at the end. */
static char peek(struct parser *p)
{
    skip_blanks(p);
    return p->at < p->end ? *p->at : '\0';
}

/* Empty where something else comes. */
static struct gt_events_span take_word(struct parser *p)
{
    skip_blanks(p);
    struct gt_events_span s = {p->at, 0};
    while (p->at < p->end && is_word(*p->at))
        p->at++;
    s.n = (size_t)(p->at - s.at);
    return s;
}

static int take_property(struct parser *p, struct gt_events_span word, struct gt_events_line *out)
{
    bool *property = is(word, "disable") ? &out->disable
                     : is(word, "vcpu")  ? &out->vcpu
                     : is(word, "tcg")   ? &out->tcg
                                         : NULL;
    if (!property)
        return FAIL(p, word.at, "unknown property '%.*s', expected disable, vcpu, tcg or at=PLACE",
                    shown(word), word.at);
    *property = true;
    return 0;
}

/* A literal: up to its closing quote. */
static int take_literal(struct parser *p)
{
    const char *open = p->at++;
    while (p->at < p->end && *p->at != '"')
        p->at += *p->at == '\\' && p->at + 1 < p->end ? 2 : 1;
    if (p->at == p->end)
        return FAIL(p, open, "the text has no closing quote");
    p->at++;
    return 0;
}

/* After "at=". */
static int take_place(struct parser *p, struct gt_events_line *out)
{
    const char *start = p->at;
    while (p->at < p->end && !memchr(" \t\r\v\f\"", *p->at, 6))
        p->at++;
    if (p->at == start || out->at.n)
        return FAIL(p, start, out->at.n ? "at= is given twice" : "expected a place after at=");
    const char *stop = p->at;
    if (peek(p) == '"') {
        int status = take_literal(p);
        if (status < 0)
            return status;
        stop = p->at;
    }
    out->at = (struct gt_events_span){start, (size_t)(stop - start)};
    return 0;
}

/* A property's end, or "guest." before the name, which says no more than the file does. */
static int take_other(struct parser *p, struct gt_events_span word, struct gt_events_line *out)
{
    if (is(word, "at") && p->at < p->end && *p->at == '=') {
        p->at++;
        return take_place(p, out);
    }
    if (is(word, "guest") && p->at < p->end && *p->at == '.') {
        p->at++;
        return 0;
    }
    return take_property(p, word, out);
}

/* Properties and the name, up to and including the parenthesis. */
static int take_head(struct parser *p, struct gt_events_line *out)
{
    struct gt_events_span word;
    while ((word = take_word(p)).n) {
        if (peek(p) == '(') {
            out->name = word;
            p->at++;
            return 0;
        }
        int status = take_other(p, word, out);
        if (status < 0)
            return status;
    }
    return FAIL(p, p->at, "expected an event: NAME(ARGUMENTS)");
}

/* QEMU's simple backend detects strings by the type's letters up to its star, blanks included. */
static bool is_string(struct gt_events_span type)
{
    while (type.n && type.at[type.n - 1] != '*')
        type.n--;
    return is(type, "const char *") || is(type, "char *") || is(type, "const char*") ||
           is(type, "char*");
}

/* What a word of the type means. */
static void learn(struct gt_events_argument *a, struct gt_events_span word)
{
    a->tcg |= word.n >= 4 && memcmp(word.at, "TCGv", 4) == 0;
    if (is(word, "bool"))
        a->kind = GT_TRACE_BOOL;
    else if (a->tcg || word.at[0] == 'u' || is(word, "size_t")) /* unsigned, uint8_t, ... */
        a->kind = GT_TRACE_UNSIGNED;
}

/* Up to and including the comma or parenthesis. The name is its last word. */
static int take_argument(struct parser *p, struct gt_events_argument *a)
{
    unsigned stars = 0;
    skip_blanks(p);
    const char *start = p->at, *type_end = start;
    *a = (struct gt_events_argument){.kind = GT_TRACE_SIGNED};
    for (;;) {
        struct gt_events_span word = take_word(p);
        if (!word.n && peek(p) != '*')
            break;
        if (a->name.n) {
            learn(a, a->name);
            type_end = a->name.at + a->name.n;
        }
        a->name = word;
        if (!word.n) {
            stars++;
            type_end = ++p->at;
        }
    }
    a->type = (struct gt_events_span){start, (size_t)(type_end - start)};
    if (stars)
        a->kind = is_string(a->type) ? GT_TRACE_STRING : GT_TRACE_POINTER;
    if (!a->name.n || !a->type.n)
        return FAIL(p, start, "expected an argument: its type and its name");
    return 0;
}

static bool take_void(struct parser *p)
{
    struct parser look = *p;
    if (!is(take_word(&look), "void") || peek(&look) != ')')
        return false;
    p->at = look.at;
    return true;
}

static int take_arguments(struct parser *p, struct gt_events_line *out)
{
    for (bool more = !take_void(p); more; more = peek(p) == ',') {
        p->at += out->n_arguments > 0; /* the comma */
        if (out->n_arguments == GT_TRACE_ARGUMENTS_MAX)
            return FAIL(p, p->at, "more than %d arguments", GT_TRACE_ARGUMENTS_MAX);
        int status = take_argument(p, &out->arguments[out->n_arguments++]);
        if (status < 0)
            return status;
    }
    if (peek(p) != ')')
        return FAIL(p, p->at, "expected ',' or ')'");
    out->after = ++p->at;
    return 0;
}

int gt_events_line_read(const char *line, size_t n, struct gt_events_line *out, const char **where,
                        struct gt_trace_error *err)
{
    struct parser p = {line, line + n, where, err};
    *out = (struct gt_events_line){0};
    if (peek(&p) == '\0' || peek(&p) == '#')
        return 0;
    int status = take_head(&p, out);
    if (status == 0)
        status = take_arguments(&p, out);
    return status < 0 ? status : 1;
}
