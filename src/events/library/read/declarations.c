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
#include "events/library/read/event_line.h"

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

static const char *keep(struct pass *p, struct gt_span s, const char *suffix)
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

static struct gt_span span(const char *text)
{
    return (struct gt_span){text, strlen(text)};
}

static void add_argument(struct pass *p, struct gt_span type, struct gt_span name,
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
