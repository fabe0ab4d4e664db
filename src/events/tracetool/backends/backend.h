/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Backends: the targets of events. Each is one const table and its row in backend.c. Its templates
 * (see generator.h) are added to the generated C; members that a backend does not need are NULL.
 *
 * In the generated header an event has an inline function, trace_<event>(), which reads the event's
 * state word and calls _gt_trace_<event>() of the generated C file if the word is not 0.
 */
#ifndef GT_EVENTS_TRACETOOL_BACKENDS_BACKEND_H
#define GT_EVENTS_TRACETOOL_BACKENDS_BACKEND_H

#include "events/tracetool/generator.h"

struct gt_tracetool_backend {
    const char *name, *summary;
    const char *bit; /* its bit in state words and in `backends` of event objects; NULL: none */
    bool has_state;  /* the state word switches it */
    bool is_text;    /* it takes a formatted line, which all such backends share */
    const char *header_begin, *header_event;
    const char *header_call; /* template of the call in the inline function */
    const char *is_on; /* backends with a state of their own: an expression that is true while the
                          event is on */
    const char *source_first,
        *source_event; /* before all other includes; for each event, a function */
    /* adds the statements to _gt_trace_<event>() */
    void (*source_emit)(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e);
    /* Rust: functions of the C file, whose names end with the event's: what sends it, and where
     * the backend has is_on, whether that is true */
    const char *rust_function, *rust_is_on;
};

extern const struct gt_tracetool_backend gt_tracetool_backend_nop;
extern const struct gt_tracetool_backend gt_tracetool_backend_dtrace;
extern const struct gt_tracetool_backend gt_tracetool_backend_ftrace;
extern const struct gt_tracetool_backend gt_tracetool_backend_log;
extern const struct gt_tracetool_backend gt_tracetool_backend_simple;
extern const struct gt_tracetool_backend gt_tracetool_backend_syslog;
extern const struct gt_tracetool_backend gt_tracetool_backend_ust;

/* In the order of --list-backends, until NULL. */
const struct gt_tracetool_backend *gt_tracetool_backend_at(size_t index);
/* Finds a backend by name; NULL: unknown. */
const struct gt_tracetool_backend *gt_tracetool_backend_find(const char *name);

/* True if a backend of the NULL-terminated list generates calls; has a state word; takes text. */
bool gt_tracetool_backends_do(const struct gt_tracetool_backend *const *list);
bool gt_tracetool_backends_have_state(const struct gt_tracetool_backend *const *list);
bool gt_tracetool_backends_have_text(const struct gt_tracetool_backend *const *list);

/* True if calls of the event do something with the generator's backends. */
bool gt_tracetool_event_is_sent(const struct gt_tracetool_generator *g,
                                const struct gt_tracetool_event *e);

#endif
