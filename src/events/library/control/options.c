/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The option -trace of programs, and events files: see gt_trace_parse(). */
#include "events/library/control/registry.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct option {
    FILE *list, *warnings;
    struct gt_trace_error *error;
};

/* [-]PATTERN; what cannot be done is a warning. */
static void enable_words(const char *words, FILE *warnings)
{
    struct gt_trace_error why = {0};
    bool on = *words != '-';
    if (gt_trace_switch_all(words + !on, on, &why) < 0 && warnings)
        fprintf(warnings, "warning: %s\n", why.text);
}

static char *trim(char *line)
{
    static const char blanks[] = " \t\r\n\v\f";
    line += strspn(line, blanks);
    size_t n = strlen(line);
    while (n > 0 && strchr(blanks, line[n - 1]))
        n--;
    line[n] = 0;
    return line;
}

int gt_trace_read_events(const char *path, FILE *warnings, struct gt_trace_error *error)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return gt_events_fail_errno(error, errno, "%s: cannot be read", path);
    char *line = NULL;
    size_t capacity = 0;
    errno = 0;
    while (getline(&line, &capacity, f) >= 0) {
        char *words = trim(line);
        if (*words && *words != '#')
            enable_words(words, warnings);
    }
    int e = ferror(f) ? errno : 0;
    free(line);
    fclose(f);
    return e ? gt_events_fail_errno(error, e, "%s: cannot be read", path) : GT_TRACE_OK;
}

static int refuse(struct option *o, const char *name, const char *value, const char *expected)
{
    return gt_events_fail(o->error, GT_TRACE_E_USAGE, "trace option %s=%s: expected %s", name,
                          value, expected);
}

static int set_enable(struct option *o, const char *value)
{
    if (strcmp(value, "help") == 0 || strcmp(value, "?") == 0) {
        if (o->list)
            gt_trace_list(o->list, NULL);
        return 1;
    }
    enable_words(value, o->warnings);
    return GT_TRACE_OK;
}

static int set_events(struct option *o, const char *value)
{
    return gt_trace_read_events(value, o->warnings, o->error);
}

static int set_file(struct option *o, const char *value)
{
    return gt_trace_file_set(value, o->error);
}

static int set_log(struct option *o, const char *value)
{
    return gt_trace_log_set(value, o->error);
}

static bool is_switch(const char *value, bool *on)
{
    *on = strcmp(value, "on") == 0;
    return *on || strcmp(value, "off") == 0;
}

static int set_prefix(struct option *o, const char *value)
{
    bool on;
    if (!is_switch(value, &on))
        return refuse(o, "prefix", value, "on or off");
    gt_trace_log_prefix(on);
    return GT_TRACE_OK;
}

static int set_threads(struct option *o, const char *value)
{
    bool on;
    return is_switch(value, &on) ? gt_trace_file_threads(on, o->error)
                                 : refuse(o, "threads", value, "on or off");
}

static int set_crash(struct option *o, const char *value)
{
    bool on;
    return is_switch(value, &on) ? gt_trace_file_crash(on, o->error)
                                 : refuse(o, "crash", value, "on or off");
}

static int set_backends(struct option *o, const char *value)
{
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = {{"log", GT_TRACE_LOG},
                 {"simple", GT_TRACE_SIMPLE},
                 {"ftrace", GT_TRACE_FTRACE},
                 {"syslog", GT_TRACE_SYSLOG},
                 {"ust", GT_TRACE_UST},
                 {"dtrace", GT_TRACE_DTRACE},
                 {"nop", 0}};
    unsigned bits = 0;
    for (const char *at = value; *at;) {
        size_t n = strcspn(at, "+"), i = 0;
        while (i < sizeof names / sizeof *names &&
               (strlen(names[i].name) != n || strncmp(names[i].name, at, n) != 0))
            i++;
        if (i == sizeof names / sizeof *names)
            return refuse(o, "backends", value,
                          "log, simple, ftrace, syslog, ust, dtrace, nop, joined by +");
        bits |= names[i].bit;
        at += n + (at[n] == '+');
    }
    gt_trace_set_backends(bits);
    return GT_TRACE_OK;
}

static int set_policy(struct option *o, const char *value)
{
    static const char *const names[] = {
        [GT_TRACE_WAIT] = "wait", [GT_TRACE_DROP] = "drop", [GT_TRACE_OVERWRITE] = "overwrite"};
    for (int i = GT_TRACE_WAIT; i <= GT_TRACE_OVERWRITE; i++) {
        if (strcmp(value, names[i]) == 0)
            return gt_trace_file_policy((enum gt_trace_policy)i, o->error);
    }
    return refuse(o, "policy", value, "wait, drop or overwrite");
}

static int set_buffer(struct option *o, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long n = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
    unsigned shift = n && *end == 'K' ? 10 : n && *end == 'M' ? 20 : 0;
    if (!n || errno || end[shift != 0] || n > (SIZE_MAX >> shift))
        return refuse(o, "buffer", value, "a number of bytes, with K or M");
    return gt_trace_file_buffer((size_t)n << shift, o->error);
}

static const struct {
    const char *name;
    int (*set)(struct option *o, const char *value);
} options[] = {
    {"enable", set_enable}, {"events", set_events}, {"file", set_file},
    {"log", set_log},       {"prefix", set_prefix}, {"backends", set_backends},
    {"policy", set_policy}, {"buffer", set_buffer}, {"threads", set_threads},
    {"crash", set_crash},
};

static int set_one(struct option *o, const char *name, size_t length, const char *value)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
            return options[i].set(o, value);
    }
    return gt_events_fail(o->error, GT_TRACE_E_USAGE,
                          "trace option %.*s=%s: no such option; there are enable, events, file, "
                          "log, prefix, backends, policy, buffer, threads, crash",
                          (int)length, name, value);
}

/* Copies up to the next single comma, which is passed. */
static const char *take_value(const char *from, char *value, size_t size)
{
    size_t n = 0;
    while (*from && (*from != ',' || from[1] == ',')) {
        if (*from == ',')
            from++;
        if (n + 1 < size)
            value[n++] = *from;
        from++;
    }
    value[n] = 0;
    return *from ? from + 1 : from;
}

int gt_trace_parse(const char *option, FILE *list, FILE *warnings, struct gt_trace_error *error)
{
    struct option o = {list, warnings, error};
    char value[PATH_MAX];
    bool listed = false;
    for (const char *at = option; *at;) {
        size_t n = strcspn(at, "=,");
        bool named = at[n] == '=';
        const char *name = named ? at : "enable";
        size_t length = named ? n : strlen(name);
        if (!named && at != option)
            return gt_events_fail(error, GT_TRACE_E_USAGE,
                                  "trace option '%s': expected NAME=VALUE after the first comma",
                                  at);
        at = take_value(named ? at + n + 1 : at, value, sizeof value);
        int r = set_one(&o, name, length, value);
        if (r < 0)
            return r;
        listed |= r == 1;
    }
    return listed;
}
