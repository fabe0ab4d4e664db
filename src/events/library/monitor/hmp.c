/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words of QEMU's human monitor that concern tracing:
 *
 *     line = [word (blanks word)*]
 *     word = characters other than blanks | '"' characters, \" and \\ '"'
 *
 * A command is one row of the table.
 */
#include "events/library/message.h"
#include "events/library/monitor/monitor.h"

#include <guesttrace/control.h>
#include <stdlib.h>
#include <string.h>

struct hmp {
    char **words; /* after the command's name; ends with NULL */
    struct gt_monitor_text *out;
    struct gt_trace_error *err;
};

/* A quoted word, in place, which begins after its quote; NULL: it does not end. */
static char *take_quoted(char *at)
{
    char *to = at;
    for (; *at != '"'; at++) {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        if (!*at)
            return NULL;
        *to++ = *at;
    }
    *to = '\0';
    return at + 1;
}

/* How many words there are, or the error. */
static int split(char *line, char **words, struct gt_trace_error *err)
{
    int n = 0;
    for (char *at = line;;) {
        at += strspn(at, " \t\r");
        if (!*at)
            return n;
        if (n == GT_MONITOR_WORDS_MAX)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "more than %d words",
                                  GT_MONITOR_WORDS_MAX);
        bool quoted = *at == '"';
        words[n++] = at + quoted;
        char *end = quoted ? take_quoted(at + 1) : at + strcspn(at, " \t\r");
        if (!end)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "a word has no closing quote: %s", at);
        if (*end && !strchr(" \t\r", *end))
            return gt_events_fail(err, GT_TRACE_E_USAGE, "expected a blank after a quote: %s", end);
        at = end + (*end != '\0');
        *end = '\0';
    }
}

static int unexpected(const struct hmp *h, const char *word, const char *expected)
{
    return gt_events_fail(h->err, GT_TRACE_E_USAGE, "unexpected word '%s', expected %s", word,
                          expected);
}

static int unknown_event(const struct hmp *h, const char *name)
{
    return gt_events_fail(h->err, GT_TRACE_E_NOT_FOUND, "unknown event '%s'", name);
}

static int show_event(struct gt_trace_event *event, void *context)
{
    const struct hmp *h = context;
    gt_monitor_printf(h->out, "%s : state %d\n", event->name, gt_trace_is_on(event));
    return 0;
}

static int info_events(const struct hmp *h)
{
    const char *pattern = h->words[0];
    if (pattern && h->words[1])
        return unexpected(h, h->words[1], "nothing after the pattern");
    if (pattern && !gt_trace_is_pattern(pattern) && !gt_trace_find(pattern))
        return unknown_event(h, pattern);
    return gt_trace_each(NULL, pattern, show_event, (void *)h);
}

/* An event that has no vCPU is not to be switched for one. */
static int check_vcpu(struct gt_trace_event *event, void *context)
{
    const struct hmp *h = context;
    if (event->vcpu)
        return 0;
    return gt_events_fail(h->err, GT_TRACE_E_UNSUPPORTED, "event '%s' has no vCPU", event->name);
}

static int switch_events(const struct hmp *h)
{
    const char *pattern = h->words[0], *state = pattern ? h->words[1] : NULL;
    if (!state)
        return gt_events_fail(h->err, GT_TRACE_E_USAGE,
                              "expected trace-event NAME|PATTERN on|off [vcpu]");
    bool on = strcmp(state, "on") == 0;
    if (!on && strcmp(state, "off") != 0)
        return unexpected(h, state, "on or off");
    const char *vcpu = h->words[2];
    if (vcpu && vcpu[strspn(vcpu, "0123456789")])
        return unexpected(h, vcpu, "the number of a vCPU");
    if (vcpu && h->words[3])
        return unexpected(h, h->words[3], "nothing after the vCPU");
    if (!gt_trace_is_pattern(pattern) && !gt_trace_find(pattern))
        return unknown_event(h, pattern);
    int status = vcpu ? gt_trace_each(NULL, pattern, check_vcpu, (void *)h) : 0;
    if (status == 0)
        status = gt_trace_switch_all(pattern, on, h->err);
    return status < 0 ? status : 0;
}

static int file_show(const struct hmp *h)
{
    struct gt_trace_file_status s;
    gt_trace_file_status(&s);
    gt_monitor_printf(h->out, "Trace file \"%s\" %s.\n", s.path, s.on ? "on" : "off");
    return 0;
}

static int file_on(const struct hmp *h)
{
    return gt_trace_file_enable(true, h->err);
}

static int file_off(const struct hmp *h)
{
    return gt_trace_file_enable(false, h->err);
}

static int file_flush(const struct hmp *h)
{
    int status = gt_trace_file_flush(h->err);
    return status ? status : gt_trace_log_flush(h->err);
}

static int file_set(const struct hmp *h)
{
    return gt_trace_file_set(h->words[1], h->err);
}

static int file_dump(const struct hmp *h)
{
    return gt_trace_file_dump(h->words[1], h->err);
}

static const struct {
    const char *word;
    bool path; /* one may follow */
    int (*run)(const struct hmp *h);
} file_words[] = {
    {"on", false, file_on},  {"off", false, file_off},  {"flush", false, file_flush},
    {"set", true, file_set}, {"dump", true, file_dump},
};

static int trace_file(const struct hmp *h)
{
    const char *word = h->words[0];
    if (!word)
        return file_show(h);
    for (size_t i = 0; i < sizeof file_words / sizeof *file_words; i++) {
        if (strcmp(word, file_words[i].word) != 0)
            continue;
        const char *more = h->words[1];
        if (more && file_words[i].path)
            more = h->words[2];
        if (more)
            return unexpected(h, more, "nothing");
        return file_words[i].run(h);
    }
    return unexpected(h, word, "on, off, flush, set or dump");
}

static int help(const struct hmp *h);

static const struct {
    const char *word, *second; /* second: NULL for one */
    int (*run)(const struct hmp *h);
    const char *usage, *what;
} commands[] = {
    {"info", "trace-events", info_events, "info trace-events [PATTERN]",
     "the events that match, and whether they are on"},
    {"trace-event", NULL, switch_events, "trace-event NAME|PATTERN on|off [vcpu]",
     "switches events"},
    {"trace-file", NULL, trace_file, "trace-file [on|off|flush|set [PATH]|dump [PATH]]",
     "the file of the simple backend; flush: the log, too"},
    {"help", NULL, help, "help", "this list"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int help(const struct hmp *h)
{
    for (size_t i = 0; i < COMMANDS; i++)
        gt_monitor_printf(h->out, "%s -- %s\n", commands[i].usage, commands[i].what);
    return 0;
}

void gt_monitor_hmp_usage(struct gt_monitor_text *out)
{
    for (size_t i = 0; i + 1 < COMMANDS; i++)
        gt_monitor_printf(out, "%s%s", i ? " | " : "", commands[i].usage);
}

bool gt_monitor_hmp_knows(const char *line)
{
    size_t n = strcspn(line, " \t\r");
    for (size_t i = 0; i + 1 < COMMANDS; i++) /* the last one is help */
        if (strlen(commands[i].word) == n && strncmp(commands[i].word, line, n) == 0)
            return true;
    return false;
}

int gt_monitor_hmp(char *line, struct gt_monitor_text *out, struct gt_trace_error *err)
{
    char *words[GT_MONITOR_WORDS_MAX + 1] = {0};
    size_t before = out->n;
    int n = split(line, words, err);
    if (n <= 0)
        return n;
    const char *known = NULL;
    for (size_t i = 0; i < COMMANDS; i++) {
        const char *second = commands[i].second;
        if (strcmp(words[0], commands[i].word) != 0)
            continue;
        if (second && (!words[1] || strcmp(words[1], second) != 0)) {
            known = second;
            continue;
        }
        const struct hmp h = {words + 1 + !!second, out, err};
        int status = commands[i].run(&h);
        if (status < 0)
            out->n = before;
        return status;
    }
    if (known && words[1])
        return gt_events_fail(err, GT_TRACE_E_USAGE, "unknown words '%s %s', expected '%s %s'",
                              words[0], words[1], words[0], known);
    if (known)
        return gt_events_fail(err, GT_TRACE_E_USAGE, "expected '%s %s'", words[0], known);
    return gt_events_fail(err, GT_TRACE_E_USAGE, "unknown command '%s', see 'help'", words[0]);
}
