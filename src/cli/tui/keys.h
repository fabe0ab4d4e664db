/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of `guesttrace tui`. */
#ifndef GT_CLI_TUI_KEYS_H
#define GT_CLI_TUI_KEYS_H

#include "cli/keys.h"

enum gt_tui_action {
    GT_TUI_NONE,
    GT_TUI_DOWN,
    GT_TUI_UP,
    GT_TUI_PAGE_DOWN,
    GT_TUI_PAGE_UP,
    GT_TUI_HOME,
    GT_TUI_END,
    GT_TUI_RIGHT,
    GT_TUI_LEFT,
    GT_TUI_ENTER,
    GT_TUI_OPEN_ONE,
    GT_TUI_CLOSE_ONE,
    GT_TUI_OPEN_ALL,
    GT_TUI_CLOSE_ALL,
    GT_TUI_NEXT,
    GT_TUI_BEFORE,
    GT_TUI_PARENT,
    GT_TUI_LONGEST,
    GT_TUI_MIDDLE,
    GT_TUI_CALLEES,
    GT_TUI_CALLERS,
    GT_TUI_BELOW,
    GT_TUI_REPORT,
    GT_TUI_GRAPH,
    GT_TUI_LIST_TASKS,
    GT_TUI_SHOW_INFO,
    GT_TUI_CHOOSE_FIELDS,
    GT_TUI_SORT,
    GT_TUI_EDITOR,
    GT_TUI_BACK,
    GT_TUI_SEARCH,
    GT_TUI_FIND_NEXT,
    GT_TUI_FIND_BEFORE,
    GT_TUI_LIST_HITS,
    GT_TUI_OTHERS,
    GT_TUI_HELP,
    GT_TUI_QUIT,
};

extern const struct gt_cli_key gt_tui_keys[];

#endif
