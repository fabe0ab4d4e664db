/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: what a set consists of. */
#ifndef GT_FILTER_RULE_H
#define GT_FILTER_RULE_H

#include "filter/filter.h"
#include "filter/regex.h"

#include <pthread.h>
#include <stdbool.h>

/* What a trigger does beside changing the recording: its user does it. */

enum gt_filter_action_kind {
    GT_ACTION_TRACE_ON,
    GT_ACTION_TRACE_OFF,
    GT_ACTION_FINISH,    /* the recording ends here */
    GT_ACTION_BACKTRACE, /* note the open calls */
    GT_ACTION_READ,      /* note the register `text` */
    GT_ACTION_MARK,      /* note `text` */
    GT_ACTION_SNAPSHOT,  /* save what a flight recorder holds; `text`: under that name, or NULL */
};

struct gt_filter_action {
    enum gt_filter_action_kind kind;
    bool at_return;
    char *text; /* or NULL */
};

enum {
    GT_FILTER_SCOPES = 64,   /* different scopes in one set: a bit each */
    GT_FILTER_ACTIONS = 16,  /* of one trigger */
    GT_FILTER_TRIGGERS = 32, /* of one function, that have actions: a bit each */
};

enum gt_filter_scope_kind { GT_SCOPE_TASK, GT_SCOPE_PID, GT_SCOPE_CPU };

/* Where a rule applies. */
struct gt_filter_scope {
    enum gt_filter_scope_kind kind;
    char *text; /* GT_SCOPE_TASK: the glob */
    struct gt_filter_regex *glob;
    uint64_t number; /* PID, CPU; a TASK whose text is a number is also an id */
    bool numeric;
};

/* What sets a trigger off. */
enum gt_filter_rule_cause {
    GT_CAUSE_CALL,
    GT_CAUSE_CONSOLE,
    GT_CAUSE_QMP,
    GT_CAUSE_EXIT,
    GT_CAUSE_SIGNAL
};

/* One pattern and what it does. */
struct gt_filter_rule {
    enum gt_filter_option option;
    char *option_name, *text; /* as the user wrote it */
    struct gt_filter_pattern *pattern;
    enum gt_filter_rule_cause cause;
    struct gt_filter_regex *said;          /* CONSOLE, QMP: the line, the event's name */
    struct gt_filter_condition *condition; /* NULL: none; of EXIT: on the status */
    uint32_t bits;                         /* enum gt_filter_verdict_bit: what it adds */
    char *values;                          /* "arg1/s,retval": to be recorded; NULL: none */
    uint32_t depth, size;
    uint64_t time;
    uint64_t scopes;               /* all of them must hold */
    struct gt_filter_regex *level; /* NULL: any */
    uint64_t after, every, count;  /* how often; every 0: each time; count 0: any number */
    bool at_return;                /* all of it */
    struct gt_filter_action action[GT_FILTER_ACTIONS];
    size_t n_actions;
    uint32_t number;             /* among the set's rules, in the order of addition: its counter */
    bool used;                   /* something has matched; atomic */
    struct gt_filter_rule *next; /* of the same hash */
};

/* Rules by the one name that each is for, and the others. */
struct gt_filter_index {
    struct gt_filter_rule **bucket, **other;
    size_t n_buckets, n_named, n_other, room_other;
};

/* Lists of rules that verdicts point to. */
struct gt_filter_lists {
    pthread_mutex_t lock;
    struct gt_filter_list *first;
};

struct gt_filter_set {
    struct gt_filter_settings settings;
    struct gt_filter_rule **rule; /* in the order in which they apply */
    size_t n_rules, room_rules;
    uint32_t uses; /* enum gt_filter_need */
    struct gt_filter_scope scope[GT_FILTER_SCOPES];
    size_t n_scopes;
    uint32_t depth, size; /* UINT32_MAX, 0: any */
    uint64_t time;
    bool only, places, callers, off, no_handlers, kernel_only, user_only; /* some option says so */
    bool limits_size; /* size= somewhere: it is not `size` everywhere */
    /* selections: any of each */
    uint64_t tasks, vcpus; /* bits of scopes; 0: all */
    struct gt_filter_regex **level;
    size_t n_levels, room_levels;
    struct gt_filter_index index;
    struct gt_filter_lists *lists;
};

/* The numbers of the values that every set has. */
enum { GT_VALUE_DEPTH, GT_VALUE_TOOK };

/* uftrace's order: -F and -N (and --where), then -T, -C, -H, -L. */
static inline int gt_filter_rule_order(const struct gt_filter_rule *r)
{
    return r->option == GT_FILTER_ONLY || r->option == GT_FILTER_WHERE ? GT_FILTER_NOT : r->option;
}

/* Adds bits of a rule to the bits of the rules before it, or of its words before them. */
static inline void gt_filter_rule_merge_bits(uint32_t *to, uint32_t bits)
{
    static const uint32_t exclusive[][2] = {{GT_VERDICT_ONLY, GT_VERDICT_NOT},
                                            {GT_VERDICT_PLACE, GT_VERDICT_NO_PLACE},
                                            {GT_VERDICT_ON, GT_VERDICT_OFF}};
    for (unsigned i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
        if (bits & (exclusive[i][0] | exclusive[i][1]))
            *to &= ~(exclusive[i][0] | exclusive[i][1]);
    *to |= bits;
}

/* verdict.c: adds what the rule says. */
void gt_filter_rule_merge(const struct gt_filter_rule *r, struct gt_filter_verdict *v);

/* True: all that it says is which values are recorded. */
static inline bool gt_filter_rule_only_values(const struct gt_filter_rule *r)
{
    return r->values && !r->bits && !r->n_actions;
}

/* True: it decides at each call. */
static inline bool gt_filter_rule_is_dynamic(const struct gt_filter_rule *r)
{
    return r->condition || r->scopes || r->after || r->every || r->count;
}

#endif
