/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that are declared at run time: a trace-events file is read, its events are registered like
 * generated ones, and the caller gives their values. A declaration may have a place, at=PLACE,
 * which is the caller's; numbers have the sizes of the traced program, whose word may be smaller.
 *
 * Formats are as in generated code, checked here, as no compiler does: %d %i %u %o %x %X %c %p %s
 * with flags, width and precision. A conversion is of the next argument of a type that it takes; an
 * argument without a conversion is not in the text.
 */
#ifndef GT_EVENTS_LIBRARY_DYNAMIC_DYNAMIC_H
#define GT_EVENTS_LIBRARY_DYNAMIC_DYNAMIC_H

#include "events/library/read/declarations.h"

#include <guesttrace/events.h>

/* A format is literals, each before a conversion; the last one has no conversion. */
struct gt_events_dynamic_part {
    const char *text;
    uint32_t n;
    char conversion; /* 'd' 'u' 'o' 'x' 'X' 'c' 'p' 's'; 0: none */
    bool left, plus, blank, zero, alternative;
    uint8_t argument;     /* its index */
    uint8_t width, bytes; /* bytes of the argument, as the length modifier says */
    int8_t precision;     /* -1: none */
};

struct gt_events_dynamic_argument {
    const char *name;
    enum gt_trace_kind kind;
    uint8_t size; /* bytes of a number or pointer */
};

struct gt_events_dynamic_event {
    struct gt_trace_event event;
    uint16_t state;
    unsigned line;
    const char *at; /* its place; NULL: none is given */
    unsigned n_arguments;
    struct gt_events_dynamic_argument argument[GT_TRACE_ARGUMENTS_MAX];
    unsigned n_parts; /* of its format */
    struct gt_events_dynamic_part part[GT_TRACE_ARGUMENTS_MAX + 1];
};

struct gt_events_dynamic_events {
    struct gt_trace_group group; /* for gt_trace_register */
    struct gt_events_dynamic_event *event;
    size_t n;
    struct gt_trace_event **list;
    char *texts;
};

/* Reads the declarations of a text; `name` is the file's, for messages and as the group's name, and
 * outlives them, as they do their registration. `word`: bytes of a pointer, long and size_t.
 * GT_TRACE_E_FORMAT: the first error, with line and column, and how many there are;
 * GT_TRACE_E_NOMEM. */
int gt_events_dynamic_read(struct gt_events_dynamic_events *out, const char *name, const char *text,
                           size_t size, unsigned word, unsigned backends,
                           struct gt_trace_error *err);
void gt_events_dynamic_free(struct gt_events_dynamic_events *d);

/* Who an event is of. */
struct gt_events_dynamic_source {
    unsigned vcpu; /* the value of events that are declared `vcpu` */
    bool has_task; /* pid and tid are the record's; else it has the calling thread's */
    uint32_t pid;
    uint64_t tid;
};

/* Records the event in the simple backend; a string has at most GT_TRACE_STRING_MAX bytes. NULL as
 * text: a null pointer. */
void gt_events_dynamic_record(const struct gt_events_dynamic_event *e,
                              const struct gt_trace_value *value,
                              const struct gt_events_dynamic_source *source);
/* Writes the line of the text backends, "NAME TEXT\n", cut where there is no room; control
 * characters in strings become \xNN. Returns its length. */
size_t gt_events_dynamic_format(char *out, size_t room, const struct gt_events_dynamic_event *e,
                                const struct gt_trace_value *value,
                                const struct gt_events_dynamic_source *source);

/* For declare.c: the format after the arguments, [*from, end), into e->part; literals are copied to
 * *texts, which has room for end - from bytes and is moved behind them. GT_TRACE_E_FORMAT: *where
 * is the place. */
int gt_events_dynamic_parse_format(struct gt_events_dynamic_event *e, const char *from,
                                   const char *end, char **texts, const char **where,
                                   struct gt_trace_error *err);

#endif
