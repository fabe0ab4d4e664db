/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that choose a part of a recording of calls, the same for every command that reads
 * one: --from, --to, --range, --task, --depth, --time-filter, and filters: docs/filters.md.
 *
 * A command has a struct gt_cli_window_options in its options and GT_WINDOW_OPTIONS in its table.
 */
#ifndef GT_CLI_WINDOW_H
#define GT_CLI_WINDOW_H

#include "cli/filter_options.h"
#include "cli/options.h"
#include "gtrace/gtrace.h"

struct gt_cli_window_options {
    const char *from, *to, *range, *min_time; /* NULL: not given */
    GPtrArray *tasks;                         /* NULL: all */
    uint64_t depth;                           /* 0: all */
    /* filters; NULL: none */
    GPtrArray *areas; /* -F and, beginning with !, -N */
    GPtrArray *callers, *hides, *places, *triggers, *where;
    const char *size, *match, *trace;
    bool wall; /* where the command has GT_WALL_OPTION */
};

/* Rows of a table of options; `member` is the struct gt_cli_window_options in `options`. */
#define GT_WINDOW_OPTIONS(options, member)                                                         \
    {"from",                                                                                       \
     .type = GT_OPTION_TEXT,                                                                       \
     .value = "TIME",                                                                              \
     .help = "start at TIME after the recording's first record: 1.2s, 300ms, 5us, 100ns; or at a " \
             "text of the console or a mark, or at [SECONDS] of the guest's own time",             \
     .heading = GT_UNDER_PART,                                                                     \
     .offset = offsetof(options, member.from)},                                                    \
        {"to",                                                                                     \
         .type = GT_OPTION_TEXT,                                                                   \
         .value = "TIME",                                                                          \
         .help = "stop at TIME after the recording's first record, or at a text, as --from",       \
         .heading = GT_UNDER_PART,                                                                 \
         .offset = offsetof(options, member.to)},                                                  \
        {"task",                                                                                   \
         .type = GT_OPTION_TEXT,                                                                   \
         .repeat = true,                                                                           \
         .value = "TASK",                                                                          \
         .help = "only tasks of this name, a glob (*, ?), or this number",                         \
         .heading = GT_UNDER_PART | GT_OPTION_FIRST,                                               \
         .offset = offsetof(options, member.tasks)},                                               \
        {"range",                                                                                  \
         'r',                                                                                      \
         GT_OPTION_TEXT,                                                                           \
         .value = "FROM~TO",                                                                       \
         .help = "start at FROM and stop at TO, times or texts as --from and --to take them; "     \
                 "either may be left out",                                                         \
         .heading = GT_UNDER_PART | GT_OPTION_FIRST,                                               \
         .offset = offsetof(options, member.range)},                                               \
        GT_FILTER_OPTION("filter", 'F', "FUNC", "only these functions and what they call",         \
                         GT_UNDER_FILTERS | GT_OPTION_FIRST, options, member.areas),               \
        GT_NOTRACE_OPTION("not these functions and what they call", options, member.areas),        \
        {"time-filter",                                                                            \
         't',                                                                                      \
         GT_OPTION_TEXT,                                                                           \
         .value = "TIME",                                                                          \
         .help = "only calls that took TIME or longer",                                            \
         .old = "--min-time",                                                                      \
         .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST,                                            \
         .offset = offsetof(options, member.min_time)},                                            \
        {"depth",                                                                                  \
         'D',                                                                                      \
         GT_OPTION_NUMBER,                                                                         \
         .value = "N",                                                                             \
         .min = 1,                                                                                 \
         .max = UINT32_MAX,                                                                        \
         .help = "only calls up to N deep",                                                        \
         .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST,                                            \
         .offset = offsetof(options, member.depth)},                                               \
        GT_FILTER_OPTION("caller-filter", 'C', "FUNC", "only calls that lead to these functions",  \
                         GT_UNDER_FILTERS, options, member.callers),                               \
        GT_FILTER_OPTION("hide", 'H', "FUNC", "not these functions, but what they call",           \
                         GT_UNDER_FILTERS, options, member.hides),                                 \
        GT_FILTER_OPTION("loc-filter", 'L', "FILE[@hide]",                                         \
                         "only functions of this source file, or not those", GT_UNDER_FILTERS,     \
                         options, member.places),                                                  \
        GT_FILTER_OPTION("trigger", 'T', "FUNC@ACTION",                                            \
                         "act where this function is called: trace-on, trace-off, depth=N, ...",   \
                         GT_UNDER_FILTERS, options, member.triggers),                              \
        {"size-filter",                                                                            \
         'Z',                                                                                      \
         GT_OPTION_TEXT,                                                                           \
         .value = "SIZE",                                                                          \
         .help = "only functions of SIZE bytes or more",                                           \
         .heading = GT_UNDER_FILTERS,                                                              \
         .offset = offsetof(options, member.size)},                                                \
        GT_FILTER_OPTION("where", 0, "[FUNC:]CONDITION",                                           \
                         "only calls for which this holds, and what they call: "                   \
                         "'read:count>4k && retval<0' (docs/filters.md)",                          \
                         GT_UNDER_FILTERS, options, member.where),                                 \
        GT_MATCH_OPTION(options, member.match),                                                    \
    {                                                                                              \
        "trace", .type = GT_OPTION_CHOICE, .value = "STATE", .choices = gt_cli_window_states,      \
                 .help = "off: show nothing until a trigger", .heading = GT_UNDER_FILTERS,         \
                 .offset = offsetof(options, member.trace)                                         \
    }

/* Of commands that sum up. */
#define GT_WALL_OPTION(options, member)                                                            \
    {                                                                                              \
        "wall",                                                                                    \
            .type = GT_OPTION_FLAG,                                                                \
            .help =                                                                                \
                "times with those in which tasks were suspended, as the function linux:schedule",  \
            .heading = GT_UNDER_SHOWN, .offset = offsetof(options, member.wall)                    \
    }

extern const char *const gt_cli_window_states[];

/* A window, and its filter. */
struct gt_cli_window {
    struct gtrace_window part;
};

/* Makes the window of an open recording; the caller clears it, also after an error. GT_E_USAGE,
 * GT_E_RANGE: a time after the recording's end; GT_E_NOT_FOUND: no such task. */
int gt_cli_window_make(const struct gt_cli_window_options *o, struct gtrace *t,
                       struct gt_cli_window *out, struct gt_error *err);
void gt_cli_window_clear(struct gt_cli_window *w);

/* True: filters are given. */
bool gt_cli_window_has_filter(const struct gt_cli_window_options *o);

/* The window has nothing: GT_E_NOT_FOUND where options have chosen it, else 0. */
int gt_cli_window_nothing(const struct gt_cli_window_options *o, const struct gtrace *t,
                          struct gt_error *err);

/* A time with its unit: ns, us, ms, s or m, with decimals or without. GT_E_USAGE, err names the
 * option. */
int gt_cli_window_time(const char *option, const char *text, uint64_t *ns, struct gt_error *err);

#endif
