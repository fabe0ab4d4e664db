/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the runtime know of each other's state.
 *
 * One recursive lock guards the registry, the names and everything else that control functions
 * change. Emitting never takes it. fork() takes it first, so that a child finds it whole.
 */
#ifndef GT_EVENTS_CONTROL_REGISTRY_H
#define GT_EVENTS_CONTROL_REGISTRY_H

#include "events/message.h"
#include "guesttrace/control.h"

#include <stdatomic.h>

#define GT_EVENTS_STATES (GT_TRACE_TEXT | GT_TRACE_SIMPLE) /* backends that state words switch */

void gt_events_lock(void);
void gt_events_unlock(void);
void gt_events_unlock_child(void); /* in the child, where the parent has locked before fork() */

/* Which of the backends take events: state words follow. Call with the lock held. */
void gt_events_hold_back(unsigned backends, bool held);

/* names.c: names that were ever registered, by id; they stay. With the lock held. */
struct gt_events_name {
    char *text;
    uint32_t id;
    bool used;                    /* an event of this name has been on */
    struct gt_trace_event *event; /* the first of those that are registered; NULL: none is */
    struct gt_events_name *_Atomic next_used;
};
/* -1: out of memory; there is none. */
int64_t gt_events_names_add(const char *name);
int64_t gt_events_names_find(const char *name);
struct gt_events_name *gt_events_names_at(uint32_t id);
void gt_events_names_use(struct gt_events_name *name);
/* The one that was used next; NULL: the first. Without the lock. */
struct gt_events_name *gt_events_names_used_after(struct gt_events_name *name);

/* rules.c: what was switched, for events that are registered later. */
void gt_events_rules_add(const char *pattern, bool on);
bool gt_events_rules_ask(const char *name);

#endif
