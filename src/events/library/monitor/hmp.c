/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of commands, of all sockets and FIFOs: a name, blanks, what follows. A command is a row of
 * a table: that of trace events, which has QEMU's words for them,
 *
 *     line = [word (blanks word)*]
 *     word = characters other than blanks | '"' characters, \" and \\ '"'
 *
 * or that of a recorder, whose commands get what follows as it is.
 */
#include "events/library/message.h"
#include "events/library/monitor/monitor.h"

#include <guesttrace/control.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 100 }; /* bytes of an unknown command in its answer */

#define BLANKS " \t\r"

/* ---- answers ------------------------------------------------------------------------------- */

/* An answer is one line, whatever is quoted in it. */
static __attribute__((format(printf, 3, 0))) void
set_answer(struct gt_events_monitor_answer *a, bool failed, const char *format, va_list ap)
{
    a->failed = failed;
    vsnprintf(a->text, sizeof a->text, format, ap);
    for (char *c = a->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

void gt_events_monitor_succeed(struct gt_events_monitor_answer *a, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    set_answer(a, false, format, ap);
    va_end(ap);
}

void gt_events_monitor_fail(struct gt_events_monitor_answer *a, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    set_answer(a, true, format, ap);
    va_end(ap);
}

/* ---- trace events -------------------------------------------------------------------------- */

static bool ran_events; /* atomic */

void gt_events_monitor_note_events(void)
{
    __atomic_store_n(&ran_events, true, __ATOMIC_RELAXED);
}

bool gt_events_monitor_ran_events(void)
{
    return __atomic_load_n(&ran_events, __ATOMIC_RELAXED);
}

struct hmp {
    char **words; /* after the command's name; ends with NULL */
    struct gt_events_monitor_text *out;
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
        at += strspn(at, BLANKS);
        if (!*at)
            return n;
        if (n == GT_MONITOR_WORDS_MAX)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "more than %d words",
                                  GT_MONITOR_WORDS_MAX);
        bool quoted = *at == '"';
        words[n++] = at + quoted;
        char *end = quoted ? take_quoted(at + 1) : at + strcspn(at, BLANKS);
        if (!end)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "a word has no closing quote: %s", at);
        if (*end && !strchr(BLANKS, *end))
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
    gt_events_monitor_printf(h->out, "%s : state %d\n", event->name, gt_trace_is_on(event));
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
    gt_events_monitor_printf(h->out, "Trace file \"%s\" %s.\n", s.path, s.on ? "on" : "off");
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
        gt_events_monitor_printf(h->out, "%s -- %s\n", commands[i].usage, commands[i].what);
    return 0;
}

static bool is_of_events(const char *line)
{
    size_t n = strcspn(line, BLANKS);
    for (size_t i = 0; i + 1 < COMMANDS; i++) /* the last one is help */
        if (strlen(commands[i].word) == n && strncmp(commands[i].word, line, n) == 0)
            return true;
    return false;
}

static int run_words(char *line, struct gt_events_monitor_text *out, struct gt_trace_error *err)
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

/* ---- commands of a table ------------------------------------------------------------------- */

/* What follows a name of n bytes in a line. */
static char *take_arguments(char *line, size_t n, bool verbatim)
{
    char *args = line + n;
    if (*args)
        *args++ = '\0';
    if (verbatim)
        return args;
    args += strspn(args, BLANKS);
    for (size_t end = strlen(args); end && strchr(BLANKS, args[end - 1]);)
        args[--end] = '\0';
    return args;
}

void gt_events_monitor_run_command(const struct gt_events_monitor_table *t,
                                   const struct gt_events_monitor_command *c, const char *args,
                                   struct gt_events_monitor_answer *a)
{
    if (*args && !c->usage)
        gt_events_monitor_fail(a, "%s: takes no arguments", c->name);
    else if (!*args && c->usage && !c->optional)
        gt_events_monitor_fail(a, "%s: expected %s", c->name, c->usage);
    else
        c->run(t->self, args, a);
}

bool gt_events_monitor_run(const struct gt_events_monitor_table *t, char *line,
                           struct gt_events_monitor_answer *a)
{
    size_t n = strcspn(line, BLANKS);
    for (const struct gt_events_monitor_command *c = t->commands; c->name; c++)
        if (strlen(c->name) == n && memcmp(c->name, line, n) == 0) {
            gt_events_monitor_run_command(t, c, take_arguments(line, n, c->verbatim), a);
            return true;
        }
    return false;
}

/* Appends to a text that has `n` of `room` bytes; returns how many it has then. */
static size_t append(char *text, size_t n, size_t room, const char *before, const char *word)
{
    int more = snprintf(text + n, room - n, "%s%s", before, word);
    return more < 0 || (size_t)more >= room - n ? room - 1 : n + (size_t)more;
}

/* "a | b FILE | c" */
static void list_commands(const struct gt_events_monitor_table *t,
                          struct gt_events_monitor_answer *a)
{
    size_t n = 0;
    a->failed = false;
    for (const struct gt_events_monitor_command *c = t->commands; c->name; c++) {
        n = append(a->text, n, sizeof a->text, n ? " | " : "", c->name);
        if (c->usage)
            n = append(a->text, n, sizeof a->text, " ", c->usage);
    }
    for (size_t i = 0; i + 1 < COMMANDS; i++)
        n = append(a->text, n, sizeof a->text, n ? " | " : "", commands[i].usage);
}

/* "a, b or c" */
static void refuse_unknown(const struct gt_events_monitor_table *t, const char *line,
                           struct gt_events_monitor_answer *a)
{
    char names[GT_MONITOR_ANSWER / 2] = "";
    size_t n = 0;
    for (const struct gt_events_monitor_command *c = t->commands; c->name; c++)
        n = append(names, n, sizeof names, !n ? "" : c[1].name ? ", " : " or ", c->name);
    gt_events_monitor_fail(a, "unknown command %.*s: expected %s", NAME_SHOWN, line,
                           names[0] ? names : "one of those that help lists");
}

void gt_events_monitor_line(const struct gt_events_monitor_table *t, char *line,
                            struct gt_events_monitor_text *out, struct gt_events_monitor_answer *a)
{
    struct gt_trace_error err = {0};
    line += strspn(line, BLANKS);
    size_t n = strcspn(line, BLANKS);
    a->of_events = !t || is_of_events(line);
    if (a->of_events) {
        gt_events_monitor_note_events();
        if (run_words(line, out, &err) < 0)
            gt_events_monitor_fail(a, "%s", err.text);
    } else if (!gt_events_monitor_run(t, line, a)) {
        line[n] = '\0';
        if (strcmp(line, "help") == 0)
            list_commands(t, a);
        else
            refuse_unknown(t, line, a);
    }
}
