/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers that no call sets off:
 *
 *     console:REGEX[@ACTIONS]   a line that the machine prints
 *     qmp:REGEX[@ACTIONS]       an event of QEMU's machine protocol, by its name: RESET
 *     exit COMPARISON[@ACTIONS] the guest's end, by its exit status: exit!=0
 *     signal[:N][@ACTIONS]      a signal ends the guest
 *
 * Without actions a snapshot is taken. `signal@...` is a function of that name. \@ is an @ of
 * REGEX.
 */
#include "filter/set.h"
#include "filter/trigger.h"

#include <stdlib.h>
#include <string.h>

static int parse_said(struct gt_filter_rule *r, const struct gt_filter_source *s,
                      struct gt_filter_span text)
{
    struct gt_error err;
    size_t at;
    char *copy = gt_filter_span_copy(text);
    if (!copy)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int status = gt_filter_regex_parse(copy, &r->said, &at, &err);
    free(copy);
    if (status == 0 && !text.n)
        return gt_filter_source_fail(s, text.at, GT_E_USAGE, "expected a regular expression");
    return status < 0 ? gt_filter_source_fail(s, text.at + at, status, "%s", err.text) : 0;
}

/* A condition on the one value `name`. */
static int parse_condition(struct gt_filter_rule *r, const struct gt_filter_source *s,
                           struct gt_filter_span text, const char *name)
{
    const struct gt_filter_condition_name names[] = {{name, false}, {NULL, false}};
    struct gt_error err;
    size_t at;
    char *copy = gt_filter_span_copy(text);
    if (!copy)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int status = gt_filter_condition_parse(copy, names, false, &r->condition, &at, &err);
    free(copy);
    return status < 0 ? gt_filter_source_fail(s, text.at + at, status, "%s", err.text) : 0;
}

static int parse_signal(struct gt_filter_rule *r, const struct gt_filter_source *s,
                        struct gt_filter_span number)
{
    char text[48] = "signal==";
    uint64_t n;
    if (!number.n)
        return 0;
    if (!gt_filter_span_number(number, &n) || n == 0 || n > 64)
        return gt_filter_source_fail(s, number.at, GT_E_USAGE,
                                     "expected the number of a signal, 1 to 64");
    strncat(text, number.at, number.n);
    return parse_condition(r, s, (struct gt_filter_span){text, strlen(text)}, "signal");
}

/* "exit" and a comparison, not a name that begins so. */
static bool is_exit(struct gt_filter_span text)
{
    struct gt_filter_span rest = gt_filter_span_after(text, "exit");
    while (rest.n && *rest.at == ' ')
        rest = (struct gt_filter_span){rest.at + 1, rest.n - 1};
    return rest.n && strchr("=!<>&", *rest.at);
}

static int parse_cause(struct gt_filter_rule *r, const struct gt_filter_source *s,
                       struct gt_filter_span text, bool alone)
{
    struct gt_filter_span rest = gt_filter_span_after(text, "console:");
    if (rest.at) {
        r->cause = GT_CAUSE_CONSOLE;
        return parse_said(r, s, rest);
    }
    rest = gt_filter_span_after(text, "qmp:");
    if (rest.at) {
        r->cause = GT_CAUSE_QMP;
        return parse_said(r, s, rest);
    }
    rest = gt_filter_span_after(text, "signal:");
    if (rest.at || (gt_filter_span_is(text, "signal") && alone)) {
        r->cause = GT_CAUSE_SIGNAL;
        return parse_signal(r, s, rest);
    }
    if (!is_exit(text))
        return 0;
    r->cause = GT_CAUSE_EXIT;
    return parse_condition(r, s, text, "exit");
}

static int need_cause(struct gt_filter_set *set, const struct gt_filter_rule *r,
                      const struct gt_filter_source *s, const char *at)
{
    switch (r->cause) {
    case GT_CAUSE_CONSOLE:
        return gt_filter_need(set, GT_FILTER_NEEDS_CONSOLE, s, at,
                              "the machine's console is not seen here; 'guesttrace record' sees it "
                              "where it is QEMU's standard output (-nographic, -serial stdio), "
                              "without --no-console");
    case GT_CAUSE_QMP:
        return gt_filter_need(set, GT_FILTER_NEEDS_QMP, s, at,
                              "events of QEMU are not seen here; 'guesttrace record' of a machine "
                              "sees them");
    case GT_CAUSE_SIGNAL:
        return gt_filter_need(set, GT_FILTER_NEEDS_SIGNAL, s, at,
                              "signals that end the guest are not known here; recording a program "
                              "knows them");
    default:
        return gt_filter_need(set, GT_FILTER_NEEDS_EXIT, s, at,
                              "the guest's exit status is not known here");
    }
}

/* What only calls have. */
static bool is_about_calls(const struct gt_filter_rule *r)
{
    for (size_t i = 0; i < r->n_actions; i++)
        if (r->action[i].kind == GT_ACTION_READ || r->action[i].at_return)
            return true;
    return r->bits || r->scopes || r->level || r->at_return || r->values;
}

/* Who prints the line, or causes the event, is not known: no calls are known to be open. */
static int check_words(const struct gt_filter_rule *r, const struct gt_filter_source *s,
                       const char *at, bool more)
{
    if (is_about_calls(r) || more)
        return gt_filter_source_fail(s, at, GT_E_USAGE,
                                     "only actions can follow here, as snapshot or trace-on");
    for (size_t i = 0; r->said && i < r->n_actions; i++)
        if (r->action[i].kind == GT_ACTION_BACKTRACE)
            return gt_filter_source_fail(
                s, at, GT_E_USAGE,
                "backtrace is for calls, exit and signal: which vCPU has caused "
                "this is not known");
    return 0;
}

int gt_filter_cause_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                          const struct gt_filter_source *s, struct gt_filter_span item)
{
    struct gt_filter_span text = gt_filter_span_until(item, "@", false), module = {NULL, 0};
    int status = parse_cause(r, s, text, text.n == item.n);
    if (status < 0 || r->cause == GT_CAUSE_CALL)
        return status;
    status = need_cause(set, r, s, item.at);
    if (status < 0)
        return status;
    if (text.n == item.n) {
        status =
            gt_filter_need(set, GT_FILTER_NEEDS_SNAPSHOTS, s, item.at,
                           "without an action it is a snapshot, which needs a flight recorder: "
                           "record with --last SIZE|TIME (the plugin's argument last=)");
        if (status < 0)
            return status;
        r->action[r->n_actions++] = (struct gt_filter_action){.kind = GT_ACTION_SNAPSHOT};
        return 0;
    }
    struct gt_filter_span words = {text.at + text.n + 1, item.n - text.n - 1};
    const struct gt_filter_condition *own = r->condition;
    status = gt_filter_trigger_parse(set, r, s, words, &module);
    bool more = module.at || r->condition != own; /* a module, if: */
    return status == 0 ? check_words(r, s, words.at, more) : status;
}

const char *gt_filter_cause_subject(const struct gt_filter_rule *r)
{
    static const char *const subject[] = {
        [GT_CAUSE_CONSOLE] = "line of the console",
        [GT_CAUSE_QMP] = "event of QEMU",
        [GT_CAUSE_EXIT] = "exit status",
        [GT_CAUSE_SIGNAL] = "signal",
    };
    return r->cause == GT_CAUSE_CALL ? NULL : subject[r->cause];
}
