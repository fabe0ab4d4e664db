/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the options of filters (docs/filters.md) have in common where calls are recorded and where
 * they are read. */
#ifndef GT_CLI_FILTER_OPTIONS_H
#define GT_CLI_FILTER_OPTIONS_H

#include "cli/options.h"
#include "filter/filter.h"

#include <glib.h>

/* Rows of a table of options, whose struct has a list as that member. A filter that may be given
 * several times: */
#define GT_FILTER_OPTION(name, letter, value_name, text, under, options, member)                   \
    {                                                                                              \
        name, letter, GT_OPTION_TEXT, .repeat = true, .value = value_name, .help = text,           \
                                      .heading = under, .offset = offsetof(options, member)        \
    }
/* -N; it goes to the list of -F, with a ! in front: their order counts. */
#define GT_NOTRACE_OPTION(text, options, member)                                                   \
    {                                                                                              \
        "notrace", 'N', GT_OPTION_TEXT,                                                            \
            .repeat = true, .prefix = "!", .value = "FUNC", .help = text,                          \
            .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, .offset = offsetof(options, member)     \
    }
/* --match; the member is a text. */
#define GT_MATCH_OPTION(options, member)                                                           \
    {                                                                                              \
        "match", .type = GT_OPTION_CHOICE, .value = "HOW", .choices = gt_filter_match_names,       \
                 .help = "what FUNC is: regex (the default) or glob", .heading = GT_UNDER_FILTERS, \
                 .offset = offsetof(options, member)                                               \
    }

#endif
