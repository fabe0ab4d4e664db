/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registered events and their state: see guesttrace/control.h. */
#include "events/library/control/registry.h"

#include "events/library/record/writer.h"

#include <pthread.h>
#include <stdlib.h>

static struct gt_trace_group *groups, **groups_end = &groups;
static unsigned chosen = ~0u; /* gt_trace_set_backends() */
static unsigned held_back;    /* backends that cannot take events now */

void (*gt_events_state_changed)(const struct gt_trace_event *event);

bool gt_trace_is_static(const struct gt_trace_event *event)
{
    return event->enabled && event->state && event->backends;
}

bool gt_trace_is_on(const struct gt_trace_event *event)
{
    return __atomic_load_n(&event->on, __ATOMIC_RELAXED);
}

static void set_state(struct gt_trace_event *event)
{
    unsigned state = event->on ? event->backends & chosen & ~held_back & GT_EVENTS_STATES : 0;
    if (state & GT_TRACE_SIMPLE)
        gt_events_writer_start();
    __atomic_store_n(event->state, (uint16_t)state, __ATOMIC_RELEASE);
    if (gt_events_state_changed)
        gt_events_state_changed(event);
}

static void set_on(struct gt_trace_event *event, bool on)
{
    __atomic_store_n(&event->on, on, __ATOMIC_RELAXED);
    if (on)
        gt_events_names_use(gt_events_names_at(event->id));
    set_state(event);
}

static void set_all_states(void)
{
    for (struct gt_trace_group *g = groups; g; g = g->next) {
        for (uint32_t i = 0; i < g->count; i++) {
            if (gt_trace_is_static(g->events[i]))
                set_state(g->events[i]);
        }
    }
}

void gt_trace_register(struct gt_trace_group *group)
{
    gt_events_lock();
    bool good = group->version == GT_TRACE_VERSION && !group->registered;
    int64_t id = 0;
    for (uint32_t i = 0; good && i < group->count; i++)
        good = (id = gt_events_names_add(group->events[i]->name)) >= 0;
    for (uint32_t i = 0; good && i < group->count; i++) {
        struct gt_trace_event *e = group->events[i];
        e->id = (uint32_t)gt_events_names_find(e->name);
        e->group = group;
        struct gt_events_name *name = gt_events_names_at(e->id);
        if (!name->event)
            name->event = e;
        if (gt_trace_is_static(e))
            set_on(e, gt_events_rules_ask(e->name));
    }
    if (good) {
        group->registered = group;
        group->next = NULL;
        *groups_end = group;
        groups_end = &group->next;
    }
    gt_events_unlock();
}

/* Another event of the same name as one that goes. */
static struct gt_trace_event *other_of(uint32_t id)
{
    for (struct gt_trace_group *g = groups; g; g = g->next) {
        for (uint32_t i = 0; i < g->count; i++) {
            if (g->events[i]->id == id)
                return g->events[i];
        }
    }
    return NULL;
}

static void remove_group(struct gt_trace_group *group)
{
    struct gt_trace_group **at = &groups;
    while (*at && *at != group)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = group->next;
    if (!group->next)
        groups_end = at;
    for (uint32_t i = 0; i < group->count; i++) {
        struct gt_trace_event *e = group->events[i];
        if (e->state)
            __atomic_store_n(e->state, 0, __ATOMIC_RELAXED);
        struct gt_events_name *name = gt_events_names_at(e->id);
        if (name->event == e)
            name->event = other_of(e->id);
    }
    group->registered = NULL;
}

void gt_trace_unregister(struct gt_trace_group *group)
{
    gt_events_lock();
    remove_group(group);
    gt_events_unlock();
}

struct gt_trace_event *gt_trace_find(const char *name)
{
    gt_events_lock();
    int64_t id = gt_events_names_find(name);
    struct gt_trace_event *e = id < 0 ? NULL : gt_events_names_at((uint32_t)id)->event;
    gt_events_unlock();
    return e;
}

static int each_of(struct gt_trace_group *g, const char *pattern,
                   int (*each)(struct gt_trace_event *event, void *context), void *context)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct gt_trace_event *e = g->events[i];
        if (pattern && !gt_trace_match(pattern, e->name))
            continue;
        int r = each(e, context);
        if (r)
            return r;
    }
    return 0;
}

int gt_trace_each(const char *group, const char *pattern,
                  int (*each)(struct gt_trace_event *event, void *context), void *context)
{
    gt_events_lock();
    int r = 0;
    for (struct gt_trace_group *g = groups; g && !r; g = g->next) {
        if (!group || strcmp(group, g->name) == 0)
            r = each_of(g, pattern, each, context);
    }
    gt_events_unlock();
    return r;
}

int gt_trace_switch(struct gt_trace_event *event, bool on, struct gt_trace_error *error)
{
    if (!gt_trace_is_static(event))
        return gt_events_fail(error, GT_TRACE_E_UNSUPPORTED,
                              "trace event '%s' cannot be traced: it is declared disabled or has "
                              "no backend",
                              event->name);
    gt_events_lock();
    set_on(event, on);
    gt_events_rules_add(event->name, on);
    gt_events_unlock();
    return GT_TRACE_OK;
}

struct switching {
    bool on;
    int found, done;
};

static int switch_one(struct gt_trace_event *event, void *context)
{
    struct switching *s = context;
    s->found++;
    if (gt_trace_is_static(event)) {
        set_on(event, s->on);
        s->done++;
    }
    return 0;
}

int gt_trace_switch_all(const char *pattern, bool on, struct gt_trace_error *error)
{
    struct switching s = {.on = on};
    gt_events_lock();
    gt_trace_each(NULL, pattern, switch_one, &s);
    gt_events_rules_add(pattern, on);
    gt_events_unlock();
    if (s.done || gt_trace_is_pattern(pattern))
        return s.done;
    if (s.found)
        return gt_events_fail(error, GT_TRACE_E_UNSUPPORTED,
                              "trace event '%s' cannot be traced: it is declared disabled or has "
                              "no backend",
                              pattern);
    return gt_events_fail(error, GT_TRACE_E_NOT_FOUND, "trace event '%s' does not exist", pattern);
}

static int list_one(struct gt_trace_event *event, void *context)
{
    fprintf(context, "%s\n", event->name);
    return 0;
}

void gt_trace_list(FILE *file, const char *pattern)
{
    gt_trace_each(NULL, pattern, list_one, file);
}

void gt_trace_set_backends(unsigned backends)
{
    gt_events_lock();
    chosen = backends;
    set_all_states();
    gt_events_unlock();
}

unsigned gt_trace_backends(void)
{
    gt_events_lock();
    unsigned now = chosen;
    gt_events_unlock();
    return now;
}

void gt_events_hold_back(unsigned backends, bool held)
{
    held_back = held ? held_back | backends : held_back & ~backends;
    set_all_states();
}

/*
 * The rules of patterns that were switched on and off, in order, for events that are registered
 * later. The last matching rule decides; a rule for an existing pattern replaces the old one and
 * moves to the end, so that there is one rule for each pattern.
 */

struct rule {
    char *pattern;
    bool on;
};

static struct rule *rules;
static size_t count, capacity;

static void forget(const char *pattern)
{
    bool all = strcmp(pattern, "*") == 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (all || strcmp(rules[i].pattern, pattern) == 0)
            free(rules[i].pattern);
        else
            rules[kept++] = rules[i];
    }
    count = kept;
}

void gt_events_rules_add(const char *pattern, bool on)
{
    forget(pattern);
    if (count == capacity) {
        size_t wanted = capacity ? capacity * 2 : 16;
        struct rule *bigger = realloc(rules, wanted * sizeof *bigger);
        if (!bigger)
            return; /* events to come stay off */
        rules = bigger;
        capacity = wanted;
    }
    char *copy = strdup(pattern);
    if (copy)
        rules[count++] = (struct rule){copy, on};
}

bool gt_events_rules_ask(const char *name)
{
    for (size_t i = count; i-- > 0;) {
        if (gt_trace_match(rules[i].pattern, name))
            return rules[i].on;
    }
    return false;
}
