/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that choose a part of a recording of calls, the same for every command that reads
 * one: --from, --to, --task, --depth, --min-time.
 *
 * A command has a struct gt_window_options in its options and GT_WINDOW_OPTIONS in its table.
 */
#ifndef GT_CLI_WINDOW_H
#define GT_CLI_WINDOW_H

#include "analysis/calls/calls.h"
#include "cli/options.h"

struct gt_window_options {
    const char *from, *to, *min_time; /* NULL: not given */
    GPtrArray *tasks;                 /* NULL: all */
    uint64_t depth;                   /* 0: all */
};

/* Rows of a table of options; `member` is the struct gt_window_options in `options`. */
#define GT_WINDOW_OPTIONS(options, member)                                                         \
    {"from", .type = GT_OPTION_TEXT, .value = "TIME",                                              \
     .help = "start at TIME after the recording's first record: 1.2s, 300ms, 5us, 100ns",          \
     .offset = offsetof(options, member.from)},                                                    \
        {"to", .type = GT_OPTION_TEXT, .value = "TIME",                                            \
         .help = "stop at TIME after the recording's first record",                                \
         .offset = offsetof(options, member.to)},                                                  \
        {"task",                                                                                   \
         .type = GT_OPTION_TEXT,                                                                   \
         .repeat = true,                                                                           \
         .value = "TASK",                                                                          \
         .help = "only tasks of this name, a glob (*, ?), or this number",                         \
         .offset = offsetof(options, member.tasks)},                                               \
        {"depth",                                                                                  \
         'D',                                                                                      \
         GT_OPTION_NUMBER,                                                                         \
         .value = "N",                                                                             \
         .min = 1,                                                                                 \
         .max = UINT32_MAX,                                                                        \
         .help = "only calls up to N deep",                                                        \
         .offset = offsetof(options, member.depth)},                                               \
    {                                                                                              \
        "min-time", 't', GT_OPTION_TEXT, .value = "TIME",                                          \
                                         .help = "only calls that took TIME or longer",            \
                                         .offset = offsetof(options, member.min_time)              \
    }

/* A window and what it points to. */
struct gt_window {
    struct gt_calls_window calls;
    bool *tasks;
};

/* Makes the window of an open recording; the caller clears it, also after an error. GT_E_USAGE,
 * GT_E_RANGE: a time after the recording's end; GT_E_NOT_FOUND: no such task. */
int gt_window_make(const struct gt_window_options *o, const struct gt_calls *c,
                   struct gt_window *out, struct gt_error *err);
void gt_window_clear(struct gt_window *w);

/* A time with its unit: ns, us, ms, s or m, with decimals or without. GT_E_USAGE, err names the
 * option. */
int gt_window_time(const char *option, const char *text, uint64_t *ns, struct gt_error *err);

#endif
