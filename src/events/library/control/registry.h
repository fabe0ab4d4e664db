/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State that the files of the runtime share.
 *
 * One recursive lock guards the registry, the names and all other state of the control functions.
 * Events never take it. fork() takes it first, so that the child's state is consistent.
 */
#ifndef GT_EVENTS_LIBRARY_CONTROL_REGISTRY_H
#define GT_EVENTS_LIBRARY_CONTROL_REGISTRY_H

#include "events/library/message.h"
#include "guesttrace/control.h"

#include <stdatomic.h>

#define GT_EVENTS_STATES (GT_TRACE_TEXT | GT_TRACE_SIMPLE) /* backends that state words control */

void gt_events_lock(void);
void gt_events_unlock(void);
void gt_events_unlock_child(void); /* in the child of fork(), if the parent locked before */

/* Stops sending events to the backends, or resumes it, by changing all state words. Call with the
 * lock held. */
void gt_events_hold_back(unsigned backends, bool held);

/* Called after the state word of an event was stored, with the lock held. NULL: no call. */
extern void (*gt_events_state_changed)(const struct gt_trace_event *event);

/* names.c: all names that were ever registered, by id; none is removed. Call with the lock held. */
struct gt_events_name {
    char *text;
    uint32_t id;
    bool used; /* an event of this name has been switched on */
    struct gt_trace_event
        *event; /* the first registered event of this name; NULL: none is registered */
    struct gt_events_name *_Atomic next_used;
};
/* Return an id; add: -1 if out of memory, find: -1 if there is no such name. */
int64_t gt_events_names_add(const char *name);
int64_t gt_events_names_find(const char *name);
struct gt_events_name *gt_events_names_at(uint32_t id);
void gt_events_names_use(struct gt_events_name *name);
/* Returns the name that was first used after `name`; NULL: the first of all. Needs no lock. */
struct gt_events_name *gt_events_names_used_after(struct gt_events_name *name);

/* The switches so far, for events that are registered later. */
void gt_events_rules_add(const char *pattern, bool on);
bool gt_events_rules_ask(const char *name);

#endif
