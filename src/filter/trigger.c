/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words after a pattern: a row for each. */
#include "filter/trigger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gt_filter_condition_name value_names[] = {
    [GT_VALUE_DEPTH] = {"depth", false},
    [GT_VALUE_TOOK] = {"took", true},
    {NULL, false},
};

struct parser {
    struct gt_filter_set *set;
    struct gt_filter_rule *rule;
    const struct gt_filter_source *source;
    const char *word;            /* where it begins */
    struct gt_filter_span value; /* what stands behind its name */
    bool at_return;              /* "return:" stands before it */
};

static int fail(const struct parser *p, const char *message)
{
    return gt_filter_source_fail(p->source, p->value.at, GT_E_USAGE, "%s", message);
}

static int out_of_memory(const struct parser *p)
{
    return gt_error_set(p->source->err, GT_E_NOMEM, "out of memory");
}

static int take_depth(struct parser *p, int unused)
{
    uint64_t depth;
    (void)unused;
    if (!gt_filter_span_number(p->value, &depth) || depth > UINT32_MAX)
        return fail(p, "expected a depth, a number");
    p->rule->bits |= GT_VERDICT_DEPTH;
    p->rule->depth = (uint32_t)depth;
    return 0;
}

static int take_time(struct parser *p, int unused)
{
    bool insns;
    (void)unused;
    if (!gt_filter_span_time(p->value, &p->rule->time, &insns))
        return fail(p, "expected a time, as 5us, 1.5ms or 5000insn");
    p->rule->bits |= GT_VERDICT_TIME;
    return insns ? gt_filter_need(p->set, GT_FILTER_NEEDS_INSNS, p->source, p->value.at,
                                  "the times here are not numbers of instructions")
                 : 0;
}

static int take_size(struct parser *p, int unused)
{
    uint64_t size;
    (void)unused;
    if (!gt_filter_span_number(p->value, &size) || size > UINT32_MAX)
        return fail(p, "expected a size in bytes, a number");
    p->rule->bits |= GT_VERDICT_SIZE;
    p->rule->size = (uint32_t)size;
    return 0;
}

/* Of two bits that contradict each other the later one wins, as in merging rules. */
static int set_bit(struct parser *p, int bit)
{
    gt_filter_rule_merge_bits(&p->rule->bits, (uint32_t)bit);
    return 0;
}

static int add_action(struct parser *p, int kind, struct gt_filter_span text)
{
    struct gt_filter_rule *r = p->rule;
    if (r->n_actions == GT_FILTER_ACTIONS)
        return gt_filter_source_fail(p->source, p->word, GT_E_RANGE, "more than %d actions",
                                     GT_FILTER_ACTIONS);
    struct gt_filter_action *a = &r->action[r->n_actions];
    *a = (struct gt_filter_action){.kind = (enum gt_filter_action_kind)kind,
                                   .at_return = p->at_return};
    if (text.n >= 2 && (*text.at == '"' || *text.at == '\'') && text.at[text.n - 1] == *text.at)
        text = (struct gt_filter_span){text.at + 1, text.n - 2};
    if (text.at && !(a->text = gt_filter_span_copy(text)))
        return out_of_memory(p);
    r->n_actions++;
    return 0;
}

static int need_for(struct parser *p, int kind)
{
    if (kind == GT_ACTION_READ)
        return gt_filter_need(p->set, GT_FILTER_NEEDS_REGISTERS, p->source, p->word,
                              "registers cannot be read here; QEMU 9.0 and later let plugins "
                              "read them");
    if (kind == GT_ACTION_SNAPSHOT)
        return gt_filter_need(p->set, GT_FILTER_NEEDS_SNAPSHOTS, p->source, p->word,
                              "a snapshot needs a flight recorder: record with --last SIZE|TIME "
                              "(the plugin's argument last=)");
    return 0;
}

static int take_action(struct parser *p, int kind)
{
    int status = need_for(p, kind);
    return status < 0 ? status : add_action(p, kind, (struct gt_filter_span){NULL, 0});
}

static int take_action_with_text(struct parser *p, int kind)
{
    if (!p->value.n)
        return fail(p, "expected a text after the =");
    int status = need_for(p, kind);
    return status < 0 ? status : add_action(p, kind, p->value);
}

/* trace-on and trace-off: at an entry of a function they come before it is recorded. */
static int take_switch(struct parser *p, int kind)
{
    if (p->at_return || p->rule->cause != GT_CAUSE_CALL)
        return take_action(p, kind);
    return set_bit(p, kind == GT_ACTION_TRACE_ON ? GT_VERDICT_ON : GT_VERDICT_OFF);
}

enum { COUNT, AFTER, EVERY };

static int take_count(struct parser *p, int which)
{
    uint64_t n;
    if (!gt_filter_span_number(p->value, &n) || (n == 0 && which != AFTER))
        return fail(p, which == AFTER ? "expected a number" : "expected a number of at least 1");
    *(which == COUNT ? &p->rule->count : which == AFTER ? &p->rule->after : &p->rule->every) = n;
    return 0;
}

int gt_filter_trigger_parse_condition(struct gt_filter_set *set, struct gt_filter_rule *r,
                                      const struct gt_filter_source *s, struct gt_filter_span value)
{
    struct gt_error err;
    size_t at;
    char *text = gt_filter_span_copy(value);
    if (!text)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int status = gt_filter_condition_parse(text, value_names, true, &r->condition, &at, &err);
    free(text);
    if (status < 0)
        return gt_filter_source_fail(s, value.at + at, status, "%s", err.text);
    return gt_filter_trigger_check_values(set, r, s, value.at);
}

static int take_condition(struct parser *p, int unused)
{
    (void)unused;
    if (p->rule->condition)
        return gt_filter_source_fail(p->source, p->word, GT_E_USAGE,
                                     "a second condition; combine them by &&");
    int status = gt_filter_trigger_parse_condition(p->set, p->rule, p->source, p->value);
    if (status == 0)
        p->rule->at_return |= gt_filter_condition_at_return(p->rule->condition);
    return status;
}

static int take_scope(struct parser *p, int kind)
{
    return gt_filter_scope_add(p->set, (enum gt_filter_scope_kind)kind, p->source, p->value,
                               &p->rule->scopes);
}

static int take_level(struct parser *p, int unused)
{
    (void)unused;
    if (p->rule->level)
        return gt_filter_source_fail(p->source, p->word, GT_E_USAGE, "a second level");
    return gt_filter_level_parse(p->set, p->source, p->value, &p->rule->level);
}

static int take_moment(struct parser *p, int at_return)
{
    p->rule->at_return |= at_return;
    return 0;
}

static int refuse(struct parser *p, int unused)
{
    (void)unused;
    return gt_filter_source_fail(p->source, p->word, GT_E_UNSUPPORTED,
                                 "an action of uftrace that guesttrace does not have");
}

#define TO(option) (1u << (option))

enum {
    SWITCHES = TO(GT_FILTER_TRIGGER),
    FILTERS = TO(GT_FILTER_TRIGGER) | TO(GT_FILTER_ONLY),
    LIMITED = TO(GT_FILTER_TRIGGER) | TO(GT_FILTER_ONLY) | TO(GT_FILTER_NOT) |
              TO(GT_FILTER_CALLERS) | TO(GT_FILTER_HIDE),
    PLACED = LIMITED | TO(GT_FILTER_PLACE),
};

struct word {
    const char *name; /* one that ends with = or : has a value */
    int (*take)(struct parser *p, int argument);
    int argument;
    unsigned options; /* which may have it */
    bool may_return;  /* it means something at a return */
};

static const struct word words[] = {
    {"depth=", take_depth, 0, FILTERS, false},
    {"time=", take_time, 0, FILTERS, false},
    {"size=", take_size, 0, FILTERS, false},
    {"trace", set_bit, GT_VERDICT_TRACE, FILTERS, false},
    {"filter", set_bit, GT_VERDICT_ONLY, SWITCHES, false},
    {"notrace", set_bit, GT_VERDICT_NOT, SWITCHES, false},
    {"hide", set_bit, GT_VERDICT_HIDE, FILTERS, false},
    {"caller", set_bit, GT_VERDICT_CALLERS, FILTERS, false},
    {"trace-on", take_switch, GT_ACTION_TRACE_ON, SWITCHES, true},
    {"trace-off", take_switch, GT_ACTION_TRACE_OFF, SWITCHES, true},
    {"finish", take_action, GT_ACTION_FINISH, SWITCHES, true},
    {"backtrace", take_action, GT_ACTION_BACKTRACE, SWITCHES, true},
    {"snapshot", take_action, GT_ACTION_SNAPSHOT, SWITCHES, true},
    {"snapshot=", take_action_with_text, GT_ACTION_SNAPSHOT, SWITCHES, true},
    {"read=", take_action_with_text, GT_ACTION_READ, SWITCHES, false},
    {"mark=", take_action_with_text, GT_ACTION_MARK, SWITCHES, true},
    {"count=", take_count, COUNT, LIMITED, false},
    {"after=", take_count, AFTER, LIMITED, false},
    {"every=", take_count, EVERY, LIMITED, false},
    {"if:", take_condition, 0, LIMITED, false},
    {"at=return", take_moment, 1, SWITCHES, false},
    {"at=entry", take_moment, 0, SWITCHES, false},
    {"task=", take_scope, GT_SCOPE_TASK, PLACED, false},
    {"pid=", take_scope, GT_SCOPE_PID, PLACED, false},
    {"cpu=", take_scope, GT_SCOPE_CPU, PLACED, false},
    {"level=", take_level, 0, PLACED, false},
    {"recover", refuse, 0, SWITCHES, false},
    {"color=", refuse, 0, SWITCHES, false},
    {"auto-args", refuse, 0, SWITCHES, false},
    {"clear", refuse, 0, SWITCHES, false},
    {"callsite", refuse, 0, SWITCHES, false},
};

enum { WORDS = sizeof words / sizeof *words };

static bool has_value(const char *name)
{
    char last = name[strlen(name) - 1];
    return last == '=' || last == ':';
}

/* trace_on, traceon and trace-on are one word, as in uftrace. */
static bool is_word(struct gt_filter_span span, const char *name)
{
    char plain[16];
    size_t n = 0;
    if (gt_filter_span_is(span, name))
        return true;
    if (!gt_filter_span_after(span, "trace").at || strncmp(name, "trace-", 6) != 0)
        return false;
    for (size_t i = 0; i < span.n && n + 1 < sizeof plain; i++)
        if (i != 5 || (span.at[i] != '_' && span.at[i] != '-'))
            plain[n++] = span.at[i];
    return gt_filter_span_is((struct gt_filter_span){plain, n},
                             strcmp(name, "trace-on") == 0 ? "traceon" : "traceoff");
}

static const struct word *find(struct gt_filter_span span, struct gt_filter_span *value)
{
    for (size_t i = 0; i < WORDS; i++) {
        *value = span;
        if (!has_value(words[i].name)) {
            if (is_word(span, words[i].name))
                return &words[i];
            continue;
        }
        *value = gt_filter_span_after(span, words[i].name);
        if (value->at)
            return &words[i];
    }
    return NULL;
}

static int unknown(const struct parser *p, struct gt_filter_span word)
{
    struct gt_text known = {0};
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].options & TO(p->rule->option) && words[i].take != refuse)
            gt_text_printf(&known, " %s", words[i].name);
    int status = gt_filter_source_fail(
        p->source, word.at, GT_E_USAGE, "no action '%.*s', expected one of%s",
        (int)(word.n < 40 ? word.n : 40), word.at, known.len ? known.data : "");
    gt_text_free(&known);
    return status;
}

static int parse_word(struct parser *p, struct gt_filter_span span, struct gt_filter_span *module)
{
    struct gt_filter_span rest = gt_filter_span_after(span, "return:");
    p->word = span.at;
    p->at_return = rest.at;
    if (p->at_return)
        span = rest;
    if (p->rule->option == GT_FILTER_TRIGGER && !p->at_return && gt_filter_trigger_is_value(span))
        return gt_filter_trigger_add_value(p->set, p->rule, p->source, span);
    const struct word *w = find(span, &p->value);
    if (!w) {
        bool may_be_module = span.n && !p->at_return && !memchr(span.at, '=', span.n) &&
                             !memchr(span.at, ':', span.n) && !module->at;
        if (!may_be_module)
            return unknown(p, span);
        *module = span;
        return 0;
    }
    if (!(w->options & TO(p->rule->option)))
        return gt_filter_source_fail(p->source, p->word, GT_E_USAGE, "'%s' is not for %s", w->name,
                                     p->source->option);
    if (p->at_return && (!w->may_return || p->rule->option != GT_FILTER_TRIGGER))
        return gt_filter_source_fail(p->source, p->word, GT_E_USAGE,
                                     "'%s' means nothing at the return", w->name);
    return w->take(p, w->argument);
}

/* What a trigger at the return cannot do. */
static int check_return(const struct parser *p, const struct gt_filter_source *s)
{
    struct gt_filter_rule *r = p->rule;
    uint32_t switches = GT_VERDICT_ON | GT_VERDICT_OFF;
    if (!r->at_return)
        return 0;
    if (r->option != GT_FILTER_TRIGGER || r->bits & ~switches)
        return gt_filter_source_fail(
            s, s->text, GT_E_USAGE,
            "a value known at the return only cannot decide whether to record; "
            "it can trigger actions");
    struct parser at_return = *p;
    at_return.at_return = true;
    int status = 0;
    if (r->bits & GT_VERDICT_ON)
        status = take_action(&at_return, GT_ACTION_TRACE_ON);
    else if (r->bits & GT_VERDICT_OFF)
        status = take_action(&at_return, GT_ACTION_TRACE_OFF);
    r->bits &= ~switches;
    for (size_t i = 0; i < r->n_actions; i++)
        r->action[i].at_return = true;
    return status;
}

int gt_filter_trigger_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                            const struct gt_filter_source *s, struct gt_filter_span all,
                            struct gt_filter_span *module)
{
    struct parser p = {.set = set, .rule = r, .source = s};
    for (;;) {
        struct gt_filter_span word = gt_filter_span_until(all, ",@", true);
        int status = parse_word(&p, word, module);
        if (status < 0)
            return status;
        if (word.n == all.n)
            break;
        all = (struct gt_filter_span){all.at + word.n + 1, all.n - word.n - 1};
    }
    return check_return(&p, s);
}

/* Scopes: each different one has a bit, so that a call is compared with all of them at once. */

int gt_filter_need(struct gt_filter_set *set, enum gt_filter_need need,
                   const struct gt_filter_source *s, const char *at, const char *what)
{
    set->uses |= need;
    if (!(set->settings.needs & need))
        return 0;
    return gt_filter_source_fail(s, at, GT_E_UNSUPPORTED, "%s", what);
}

int gt_filter_glob_parse(const struct gt_filter_source *s, struct gt_filter_span value,
                         struct gt_filter_regex **out)
{
    struct gt_error err;
    size_t at;
    char *text = gt_filter_span_copy(value);
    if (!text)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int status = gt_filter_regex_parse_glob(text, out, &at, &err);
    free(text);
    return status < 0 ? gt_filter_source_fail(s, value.at + at, status, "%s", err.text) : 0;
}

int gt_filter_level_parse(struct gt_filter_set *set, const struct gt_filter_source *s,
                          struct gt_filter_span value, struct gt_filter_regex **out)
{
    int status = gt_filter_need(set, GT_FILTER_NEEDS_LEVEL, s, value.at,
                                "privilege levels are not known here");
    if (status < 0)
        return status;
    if (!value.n)
        return gt_filter_source_fail(s, value.at, GT_E_USAGE,
                                     "expected a privilege level, as U, NS-EL1 or Ring3");
    return gt_filter_glob_parse(s, value, out);
}

static int find_scope(const struct gt_filter_set *set, enum gt_filter_scope_kind kind,
                      const char *text)
{
    for (size_t i = 0; i < set->n_scopes; i++)
        if (set->scope[i].kind == kind && strcmp(set->scope[i].text, text) == 0)
            return (int)i;
    return -1;
}

/* `text` becomes the scope's. */
static int parse(struct gt_filter_scope *scope, enum gt_filter_scope_kind kind, char *text,
                 const struct gt_filter_source *s, struct gt_filter_span value)
{
    *scope = (struct gt_filter_scope){.kind = kind, .text = text};
    scope->numeric = gt_filter_span_number(value, &scope->number);
    if (kind == GT_SCOPE_TASK && value.n)
        return gt_filter_glob_parse(s, value, &scope->glob);
    if (scope->numeric)
        return 0;
    return gt_filter_source_fail(s, value.at, GT_E_USAGE, "expected %s",
                                 kind == GT_SCOPE_TASK  ? "the name of a task, or a glob"
                                 : kind == GT_SCOPE_PID ? "the number of a process"
                                                        : "the number of a vCPU");
}

int gt_filter_scope_add(struct gt_filter_set *set, enum gt_filter_scope_kind kind,
                        const struct gt_filter_source *s, struct gt_filter_span value,
                        uint64_t *bits)
{
    if (kind == GT_SCOPE_CPU) {
        int status = gt_filter_need(set, GT_FILTER_NEEDS_CPU, s, value.at,
                                    "the vCPU of a call is not known here");
        if (status < 0)
            return status;
    }
    char *text = gt_filter_span_copy(value);
    if (!text)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int known = find_scope(set, kind, text);
    if (known >= 0) {
        free(text);
        *bits |= UINT64_C(1) << known;
        return 0;
    }
    struct gt_filter_scope scope;
    int status = parse(&scope, kind, text, s, value);
    if (status == 0 && set->n_scopes == GT_FILTER_SCOPES)
        status = gt_filter_source_fail(s, value.at, GT_E_RANGE,
                                       "more than %d different tasks, processes and vCPUs",
                                       GT_FILTER_SCOPES);
    if (status < 0) {
        gt_filter_scope_finish(&scope);
        return status;
    }
    *bits |= UINT64_C(1) << set->n_scopes;
    set->scope[set->n_scopes++] = scope;
    return 0;
}

void gt_filter_scope_finish(struct gt_filter_scope *scope)
{
    free(scope->text);
    gt_filter_regex_free(scope->glob);
}

/* Values of calls in triggers: those that are recorded, and those that conditions compare. */

static struct gt_filter_span after_number(struct gt_filter_span span)
{
    while (span.n && *span.at >= '0' && *span.at <= '9')
        span = (struct gt_filter_span){span.at + 1, span.n - 1};
    return span;
}

bool gt_filter_trigger_is_value(struct gt_filter_span word)
{
    static const char *const prefix[] = {"arg", "fparg", "retval"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        size_t n = strlen(prefix[i]);
        if (word.n < n || strncmp(word.at, prefix[i], n) != 0)
            continue;
        struct gt_filter_span rest = {word.at + n, word.n - n}, end = after_number(rest);
        if (*prefix[i] == 'r' ? end.n == rest.n : end.n < rest.n)
            return !end.n || *end.at == '/' || *end.at == '%';
    }
    return false;
}

static int need(struct gt_filter_set *set, const struct gt_filter_source *s, const char *at)
{
    return gt_filter_need(set, GT_FILTER_NEEDS_VALUES, s, at,
                          "values of calls are not known here: QEMU 9.0 and later let plugins read "
                          "them, a reader has those that were recorded (-A, -R)");
}

int gt_filter_trigger_add_value(struct gt_filter_set *set, struct gt_filter_rule *r,
                                const struct gt_filter_source *s, struct gt_filter_span word)
{
    size_t n = r->values ? strlen(r->values) : 0;
    char *values = realloc(r->values, n + word.n + 2);
    if (!values)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    r->values = values;
    if (n)
        values[n++] = ',';
    memcpy(values + n, word.at, word.n);
    values[n + word.n] = 0;
    return need(set, s, word.at);
}

int gt_filter_trigger_check_values(struct gt_filter_set *set, const struct gt_filter_rule *r,
                                   const struct gt_filter_source *s, const char *at)
{
    size_t n;
    const struct gt_filter_condition_value *v = gt_filter_condition_values(r->condition, &n);
    for (size_t i = 0; i < n; i++) {
        int status = 0;
        if (v[i].name.place == GT_CALL_NAMED && set->settings.needs & GT_FILTER_NEEDS_NAMES)
            return gt_filter_source_fail(
                s, at + v[i].at, GT_E_UNSUPPORTED,
                "no value '%.60s'; known here: depth, took (at the return), argN, "
                "fpargN, retval (at the return); names of arguments need "
                "prototypes (--auto-args)",
                v[i].name.name);
        status = need(set, s, at + v[i].at);
        if (status < 0)
            return status;
    }
    return 0;
}

/* "arg1", or as the condition wants to compare it. */
static void name_request(const struct gt_filter_condition_value *v, struct gt_filter_value *out)
{
    snprintf(out->own, sizeof out->own, "%.20s%s", v->name.name, v->as_text ? "/s" : "");
    out->items = out->own;
    out->implied = true;
}

bool gt_filter_set_value(const struct gt_filter_set *set, size_t i, struct gt_filter_value *out)
{
    for (size_t k = 0; k < set->n_rules; k++) {
        const struct gt_filter_rule *r = set->rule[k];
        size_t n = 0;
        const struct gt_filter_condition_value *v =
            r->condition && r->cause == GT_CAUSE_CALL ? gt_filter_condition_values(r->condition, &n)
                                                      : NULL;
        *out = (struct gt_filter_value){r->pattern, r->option_name, r->text, .items = r->values};
        if (r->values && i-- == 0)
            return true;
        for (size_t j = 0; j < n; j++) {
            if (v[j].name.place == GT_CALL_NAMED || i-- > 0)
                continue;
            name_request(&v[j], out);
            return true;
        }
    }
    return false;
}

const char *gt_filter_rule_unknown_value(const struct gt_filter_rule *r)
{
    size_t n = 0;
    const struct gt_filter_condition_value *v = r->condition && r->cause == GT_CAUSE_CALL
                                                    ? gt_filter_condition_values(r->condition, &n)
                                                    : NULL;
    for (size_t i = 0; i < n; i++)
        if (__atomic_load_n(&v[i].asked, __ATOMIC_RELAXED) &&
            !__atomic_load_n(&v[i].known, __ATOMIC_RELAXED))
            return v[i].name.name;
    return NULL;
}
