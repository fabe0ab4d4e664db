/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats: the kinds of files that can be generated. Each is one const table and its row in
 * format.c. */
#ifndef GT_EVENTS_TRACETOOL_FORMATS_FORMAT_H
#define GT_EVENTS_TRACETOOL_FORMATS_FORMAT_H

#include "events/tracetool/generator.h"

struct gt_tracetool_format {
    const char *name, *summary;
    bool needs_binary, needs_prefix; /* the format needs --binary, --probe-prefix */
    void (*generate)(struct gt_tracetool_generator *g);
};

extern const struct gt_tracetool_format gt_tracetool_format_c;
extern const struct gt_tracetool_format gt_tracetool_format_d;
extern const struct gt_tracetool_format gt_tracetool_format_h;
extern const struct gt_tracetool_format gt_tracetool_format_log_stap;
extern const struct gt_tracetool_format gt_tracetool_format_rs;
extern const struct gt_tracetool_format gt_tracetool_format_simpletrace_stap;
extern const struct gt_tracetool_format gt_tracetool_format_stap;
extern const struct gt_tracetool_format gt_tracetool_format_ust_events_c;
extern const struct gt_tracetool_format gt_tracetool_format_ust_events_h;

/* In the order of the help, until NULL. */
const struct gt_tracetool_format *gt_tracetool_format_at(size_t index);
/* Finds a format by name; NULL: unknown. */
const struct gt_tracetool_format *gt_tracetool_format_find(const char *name);

#endif
