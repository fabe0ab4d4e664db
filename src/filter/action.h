/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trigger does beside changing the recording: its user does it. */
#ifndef GT_FILTER_ACTION_H
#define GT_FILTER_ACTION_H

#include <stdbool.h>

enum gt_action_kind {
    GT_ACTION_TRACE_ON,
    GT_ACTION_TRACE_OFF,
    GT_ACTION_FINISH,    /* the recording ends here */
    GT_ACTION_BACKTRACE, /* note the open calls */
    GT_ACTION_READ,      /* note the register `text` */
    GT_ACTION_MARK,      /* note `text` */
    GT_ACTION_SNAPSHOT,  /* save what a flight recorder holds; `text`: under that name, or NULL */
};

struct gt_filter_action {
    enum gt_action_kind kind;
    bool at_return;
    char *text; /* or NULL */
};

#endif
