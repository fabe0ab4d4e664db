/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters and triggers of a recording of calls: docs/filters.md. */
#ifndef GT_CLI_RECORD_FILTERS_H
#define GT_CLI_RECORD_FILTERS_H

#include "base/error.h"
#include "cli/filter_options.h"

#include <glib.h>
#include <stdbool.h>

struct gt_record_recording;
struct gt_filter_set;

/* NULL, false: not given. */
struct gt_record_filters {
    GPtrArray *areas; /* -F and, beginning with !, -N */
    GPtrArray *triggers, *callers, *hides, *places, *tasks, *vcpus, *levels;
    GPtrArray *arguments, *results; /* -A, -R */
    GPtrArray *object_names;
    GPtrArray *prototypes;
    const char *time, *size, *match;
    bool kernel_only, user_only, no_handlers;
    bool auto_args; /* -a */
    bool system_calls;
};

/* Rows of a table of options, whose struct has a struct gt_record_filters as `filters`. */
#define GT_RECORD_FILTER(name, letter, value_name, text, under, member)                            \
    GT_FILTER_OPTION(name, letter, value_name, text, under, struct gt_record_options,              \
                     filters.member)
#define GT_RECORD_ONLY(name, text, member)                                                         \
    {                                                                                              \
        name, .type = GT_OPTION_FLAG, .help = text, .heading = GT_UNDER_FILTERS,                   \
              GT_RECORD_FIELD(filters.member)                                                      \
    }
#define GT_RECORD_FILTERS                                                                          \
    GT_RECORD_FILTER("filter", 'F', "FUNC", "record only these functions and what they call",      \
                     GT_UNDER_FILTERS | GT_OPTION_FIRST, areas),                                   \
        GT_NOTRACE_OPTION("do not record these functions and what they call",                      \
                          struct gt_record_options, filters.areas),                                \
        GT_RECORD_FILTER("trigger", 'T', "FUNC@ACTION",                                            \
                         "act where this function is called: trace-on, trace-off, depth=N, "       \
                         "time=TIME, finish, mark=TEXT, ... (docs/filters.md)",                    \
                         GT_UNDER_FILTERS, triggers),                                              \
        GT_RECORD_FILTER("argument", 'A', "FUNC@ARG,...",                                          \
                         "record arguments of these functions, as arg1, arg2/s, fparg1, or "       \
                         "auto-args (docs/arguments.md)",                                          \
                         GT_UNDER_WHAT | GT_OPTION_FIRST, arguments),                              \
        GT_RECORD_FILTER("retval", 'R', "FUNC@retval",                                             \
                         "record what these functions return, as retval/x",                        \
                         GT_UNDER_WHAT | GT_OPTION_FIRST, results),                                \
        {"auto-args",                                                                              \
         'a',                                                                                      \
         GT_OPTION_FLAG,                                                                           \
         .help = "record arguments and results of all functions whose prototypes are known: "      \
                 "from debug information, a kernel's BTF, a table of the C library",               \
         .heading = GT_UNDER_WHAT | GT_OPTION_FIRST,                                               \
         GT_RECORD_FIELD(filters.auto_args)},                                                      \
        GT_RECORD_FILTER("object-names", 0, "FILE",                                                \
                         "read from FILE which member names an object that an argument points "    \
                         "to (docs/arguments.md)",                                                 \
                         GT_UNDER_WHAT, object_names),                                             \
        GT_RECORD_FILTER("prototypes", 0, "FILE",                                                  \
                         "read from FILE C declarations of functions whose prototypes are not "    \
                         "known otherwise (docs/arguments.md)",                                    \
                         GT_UNDER_WHAT, prototypes),                                               \
        {"syscalls", .type = GT_OPTION_FLAG,                                                       \
         .help = "record system calls with their arguments and results (docs/arguments.md)",       \
         .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(filters.system_calls)},                         \
        GT_RECORD_FILTER("caller-filter", 'C', "FUNC",                                             \
                         "record only calls that lead to these functions", GT_UNDER_FILTERS,       \
                         callers),                                                                 \
        GT_RECORD_FILTER("hide", 'H', "FUNC", "do not record these functions, but what they call", \
                         GT_UNDER_FILTERS, hides),                                                 \
        GT_RECORD_FILTER("loc-filter", 'L', "FILE[@hide]",                                         \
                         "record only functions of this source file, or not those",                \
                         GT_UNDER_FILTERS, places),                                                \
        {"time-filter",                                                                            \
         't',                                                                                      \
         GT_OPTION_TEXT,                                                                           \
         .value = "TIME",                                                                          \
         .help = "record only calls that take TIME or longer (5us, 1ms, 5000insn), and their "     \
                 "callers",                                                                        \
         .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST,                                            \
         GT_RECORD_FIELD(filters.time)},                                                           \
        {"size-filter",                                                                            \
         'Z',                                                                                      \
         GT_OPTION_TEXT,                                                                           \
         .value = "SIZE",                                                                          \
         .help = "record only functions of SIZE bytes or more",                                    \
         .heading = GT_UNDER_FILTERS,                                                              \
         GT_RECORD_FIELD(filters.size)},                                                           \
        GT_MATCH_OPTION(struct gt_record_options, filters.match),                                  \
        GT_RECORD_FILTER("task", 0, "TASK",                                                        \
                         "record only tasks of this name, a glob (*, ?), or this number",          \
                         GT_UNDER_FILTERS, tasks),                                                 \
        GT_RECORD_FILTER("vcpu", 0, "N", "record only what this vCPU runs", GT_UNDER_FILTERS,      \
                         vcpus),                                                                   \
        GT_RECORD_FILTER("privilege", 0, "LEVEL",                                                  \
                         "record only a machine's code of this privilege level, a glob",           \
                         GT_UNDER_FILTERS, levels),                                                \
        GT_RECORD_ONLY("kernel-only", "record only a machine's kernel", kernel_only),              \
        GT_RECORD_ONLY("user-only", "record only a machine's programs", user_only),                \
        GT_RECORD_ONLY("no-handlers",                                                              \
                       "do not record handlers of interrupts and exceptions, and what they call",  \
                       no_handlers)

/* Before the run: the set of the options, which the caller frees; sets r->lines. GT_E_USAGE: err
 * names the option and the expected form. */
int gt_record_filters_make(struct gt_record_recording *r, struct gt_filter_set **out,
                           struct gt_error *err);
/* Appends the plugin's arguments. */
void gt_record_filters_arguments(const struct gt_record_recording *r, GString *out);
/* True: --trace off, which is about calls. */
bool gt_record_starts_off(const struct gt_record_recording *r);

#endif
