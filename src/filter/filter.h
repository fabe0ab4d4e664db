/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to record, and when: a set of filters and triggers, as a user wrote them. docs/filters.md
 * has the grammar and what each means.
 *
 * A set is made once. For each function that becomes known gt_filter_verdict says what the set has
 * to do with it: patterns are matched there and nowhere else. At calls and returns only verdicts
 * are looked at: see state.h, which is the same for a recorder and for readers.
 *
 * Which of several patterns wins is what uftrace does: each adds to the verdict, and of two that
 * contradict each other (-F and -N, depth=1 and depth=2, trace-on and trace-off) the later one
 * wins; -F and -N are in the order of the command line, then come -T, -C, -H and -L.
 */
#ifndef GT_FILTER_FILTER_H
#define GT_FILTER_FILTER_H

#include "filter/condition.h"
#include "filter/pattern.h"

struct gt_filter_set;
struct gt_filter_rule;

/* One option, by what it does. */
enum gt_filter_option {
    GT_FILTER_ONLY,        /* -F PAT[@...] */
    GT_FILTER_NOT,         /* -N PAT[@...] */
    GT_FILTER_TRIGGER,     /* -T PAT@ACTION[,ACTION...]; console:, qmp:, exit, signal: cause.c */
    GT_FILTER_CALLERS,     /* -C PAT[@...] */
    GT_FILTER_HIDE,        /* -H PAT[@...] */
    GT_FILTER_PLACE,       /* -L FILE[@hide] */
    GT_FILTER_DEPTH,       /* -D N */
    GT_FILTER_TIME,        /* -t TIME */
    GT_FILTER_SIZE,        /* -Z SIZE */
    GT_FILTER_TASK,        /* --task GLOB|ID, several times: any of them */
    GT_FILTER_VCPU,        /* --vcpu N, several times: any of them */
    GT_FILTER_PRIVILEGE,   /* --privilege LEVEL, a glob, several times: any of them */
    GT_FILTER_KERNEL_ONLY, /* without a value, as those below */
    GT_FILTER_USER_ONLY,
    GT_FILTER_NO_HANDLERS,
    GT_FILTER_OFF, /* --trace=off: nothing until a trigger */
    /* --where [PAT:]CONDITION: as -F, of calls for which it holds when they have returned. Readers
     * that have all calls know it at the entry: gt_filter_where, gt_filter_state.chosen */
    GT_FILTER_WHERE,
};

/* What a set's user can provide. */
struct gt_filter_settings {
    enum gt_filter_match match;
    uint32_t needs; /* enum gt_filter_need: what the user has not got; options that need it are
                     * refused */
};

enum gt_filter_need {
    GT_FILTER_NEEDS_LINES = 1,    /* source lines of functions */
    GT_FILTER_NEEDS_CPU = 2,      /* the vCPU of a call */
    GT_FILTER_NEEDS_LEVEL = 4,    /* privilege levels of functions */
    GT_FILTER_NEEDS_HANDLERS = 8, /* which calls are handlers */
    GT_FILTER_NEEDS_CONSOLE = 16, /* the console's lines */
    GT_FILTER_NEEDS_INSNS = 32,   /* a clock of instructions */
    GT_FILTER_NEEDS_KERNEL = 64,  /* which functions are the kernel's */
    GT_FILTER_NEEDS_REGISTERS = 128,
    GT_FILTER_NEEDS_SNAPSHOTS = 256, /* a flight recorder */
    GT_FILTER_NEEDS_EXIT = 512,      /* the guest's exit status */
    GT_FILTER_NEEDS_SIGNAL = 1024,   /* the signal that ends the guest */
    GT_FILTER_NEEDS_QMP = 2048,      /* events of QEMU's machine protocol */
    GT_FILTER_NEEDS_VALUES = 4096,   /* arguments and return values of calls */
    GT_FILTER_NEEDS_NAMES = 8192,    /* names of arguments */
};

/* `s` may be NULL. NULL: no memory. */
struct gt_filter_set *gt_filter_set_new(const struct gt_filter_settings *s);
void gt_filter_set_free(struct gt_filter_set *set); /* NULL is fine; verdicts end with it */

/* Adds an option. `name` is the option's, for messages ("-F"); value NULL where there is none. A
 * value of PAT may be several, separated by semicolons. GT_E_USAGE, GT_E_RANGE, GT_E_UNSUPPORTED
 * (needs what the user has not got): err names the option, the text, the place in it and the
 * expected form; the set may have a part of the option. GT_E_NOMEM. */
int gt_filter_set_add(struct gt_filter_set *set, enum gt_filter_option option, const char *name,
                      const char *value, struct gt_error *err);
/* True: nothing was added that changes the recording. */
bool gt_filter_set_is_empty(const struct gt_filter_set *set);
/* True: it changes nothing in the recording: it has at most triggers of other causes than calls,
 * which mark or save. */
bool gt_filter_set_only_watches(const struct gt_filter_set *set);

/* enum gt_filter_need: what its options use. */
uint32_t gt_filter_set_uses(const struct gt_filter_set *set);

/* True: it has a --where. */
bool gt_filter_set_has_where(const struct gt_filter_set *set);

/* True: while recording is off calls may do something: switch it on, end it, write a mark. */
bool gt_filter_set_acts_while_off(const struct gt_filter_set *set);
/* True: a trigger may end the recording. */
bool gt_filter_set_finishes(const struct gt_filter_set *set);

/* True: it is about tasks of some name. */
bool gt_filter_set_names_tasks(const struct gt_filter_set *set);
/* True: what happens in one task changes nothing in another. */
bool gt_filter_set_is_local(const struct gt_filter_set *set);

enum gt_filter_verdict_bit {
    GT_VERDICT_ONLY = 1 << 0,        /* -F */
    GT_VERDICT_NOT = 1 << 1,         /* -N */
    GT_VERDICT_CALLERS = 1 << 2,     /* -C */
    GT_VERDICT_HIDE = 1 << 3,        /* -H */
    GT_VERDICT_PLACE = 1 << 4,       /* -L: it is in one of the files */
    GT_VERDICT_NO_PLACE = 1 << 5,    /* it is in a hidden one */
    GT_VERDICT_DEPTH = 1 << 6,       /* `depth` applies from here on */
    GT_VERDICT_TIME = 1 << 7,        /* `time` */
    GT_VERDICT_SIZE = 1 << 8,        /* `size` */
    GT_VERDICT_TRACE = 1 << 9,       /* recorded however short */
    GT_VERDICT_ON = 1 << 10,         /* trace-on */
    GT_VERDICT_OFF = 1 << 11,        /* trace-off */
    GT_VERDICT_UNSELECTED = 1 << 12, /* of another level than is recorded */
    GT_VERDICT_RULES = 1 << 13,      /* `rules` decide at each call: conditions, scopes, counts */
    GT_VERDICT_ACTS = 1 << 14,       /* `rules` have actions at the entry */
    GT_VERDICT_RETURNS = 1 << 15,    /* at the return */
};

/* What the set has to do with a function. */
struct gt_filter_verdict {
    uint32_t bits; /* enum gt_filter_verdict_bit */
    uint32_t depth;
    uint32_t size;
    uint32_t own_size;                         /* the function's; 0: not known */
    uint64_t time;                             /* ns */
    const struct gt_filter_rule *const *rules; /* in order, until NULL; NULL: none */
};

/* Thread-safe. `f` is not kept. GT_E_NOMEM; GT_E_RANGE: more than 32 triggers
 * of one function have actions. */
int gt_filter_verdict(const struct gt_filter_set *set, const struct gt_filter_function *f,
                      struct gt_filter_verdict *out);
/* False: a call of the function is never recorded and changes nothing, whatever comes before. */
bool gt_filter_matters(const struct gt_filter_set *set, const struct gt_filter_verdict *v);
/* True: a call of the function does something even while nothing is recorded. */
static inline bool gt_filter_acts(const struct gt_filter_verdict *v)
{
    return v->bits & (GT_VERDICT_ON | GT_VERDICT_OFF | GT_VERDICT_RULES | GT_VERDICT_ACTS |
                      GT_VERDICT_RETURNS);
}

/* True: a --where is about the function. */
bool gt_filter_has_where(const struct gt_filter_verdict *v);
/* A call that has returned, to such functions. */
struct gt_filter_finished {
    uint32_t depth;
    uint64_t took;
    bool (*value)(const void *self, const struct gt_base_call_value_name *name,
                  struct gt_base_call_value *out);
    const void *self;
};
/* True: a --where has found it. */
bool gt_filter_where(const struct gt_filter_verdict *v, const struct gt_filter_finished *call);

/* True: a trigger reads a register at the entry. */
bool gt_filter_reads(const struct gt_filter_verdict *v);

/* Values of calls that triggers say are recorded, or whose conditions compare them, as far as they
 * are numbered: the i-th of them. */
struct gt_filter_value {
    const struct gt_filter_pattern *pattern; /* of the functions */
    const char *option, *text;               /* as the user wrote it */
    const char *items; /* "arg1/s,retval" (recording/values/spec.h), in `own` where `implied` */
    bool implied;      /* it is compared: any format will do */
    char own[32];
};
bool gt_filter_set_value(const struct gt_filter_set *set, size_t i, struct gt_filter_value *out);

/* A pattern that no function has matched so far, or a value in a condition that no call has had, or
 * an expression that was too much for some texts: the i-th of them. */
struct gt_filter_unused {
    uint64_t undecided;        /* texts; 0: it is one of the others */
    const char *value;         /* the value's name; NULL: the pattern */
    const char *option, *text; /* as the user wrote it */
    const char *name;          /* of functions, without module and scope: to find near ones */
    bool lines;                /* it is about source lines */
    const char *other;         /* what else it is about, as "event of QEMU"; NULL: functions */
};
bool gt_filter_set_unused(const struct gt_filter_set *set, size_t i, struct gt_filter_unused *out);

#endif
