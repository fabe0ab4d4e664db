/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules of patterns that were switched on and off, in order, for events that are registered
 * later. The last matching rule decides; a rule for an existing pattern replaces the old one and
 * moves to the end, so that there is one rule for each pattern.
 */
#include "events/library/control/registry.h"

#include <stdlib.h>

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
