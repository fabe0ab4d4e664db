/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Backends: where events go. Each is one const table, and its row in backend.c. The templates (see
 * generator.h) are what it adds to the C that is generated; what it does not need is NULL.
 *
 * In the header an event has an inline function, trace_<event>(), which looks at the event's state
 * word and calls _gt_trace_<event>() of the C file if it is not 0.
 */
#ifndef GT_TRACETOOL_BACKENDS_BACKEND_H
#define GT_TRACETOOL_BACKENDS_BACKEND_H

#include "tracetool/generator.h"

struct gt_backend {
    const char *name, *summary;
    const char *bit; /* of a state word, and of what an event's object says; NULL: none */
    bool has_state;  /* the state word says when it takes an event */
    bool is_text;    /* formats a line, which it shares with the others that do */
    const char *header_begin, *header_event;
    const char *header_call;                 /* in the inline function */
    const char *is_on;                       /* of those with a state of their own: an expression */
    const char *source_first, *source_event; /* before anything else is included; a function */
    /* in the function for events whose state word is not 0 */
    void (*source_emit)(struct gt_generator *g, const struct gt_event *e);
    /* Rust: more functions of the C file, and the call of one */
    const char *source_rust, *rust_function;
};

extern const struct gt_backend gt_backend_nop;
extern const struct gt_backend gt_backend_dtrace;
extern const struct gt_backend gt_backend_ftrace;
extern const struct gt_backend gt_backend_log;
extern const struct gt_backend gt_backend_simple;
extern const struct gt_backend gt_backend_syslog;
extern const struct gt_backend gt_backend_ust;

/* In the order of --list-backends, until NULL. */
const struct gt_backend *gt_backend_at(size_t index);
/* NULL where there is none of that name. */
const struct gt_backend *gt_backend_find(const char *name);

/* Of a list that ends with NULL: one of them does something; has a state word; formats text. */
bool gt_backends_do(const struct gt_backend *const *list);
bool gt_backends_have_state(const struct gt_backend *const *list);
bool gt_backends_have_text(const struct gt_backend *const *list);

/* The calls of the event do something, with these backends. */
bool gt_event_is_sent(const struct gt_generator *g, const struct gt_event *e);

#endif
