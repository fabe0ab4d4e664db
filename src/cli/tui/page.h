/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace tui` shows: a list of functions, or a tree of calls whose nodes can be opened.
 */
#ifndef GT_CLI_TUI_PAGE_H
#define GT_CLI_TUI_PAGE_H

#include "analysis/profile/functions.h"
#include "analysis/profile/tree.h"
#include "cli/reading.h"

struct gt_tui_line {
    uint64_t calls, total;
    int64_t self;
    uint32_t function;
    uint32_t node;  /* of the tree; of the list: the row */
    uint32_t depth; /* from 0 */
    bool has_more, is_open;
};

enum gt_tui_sort { GT_TUI_BY_TOTAL, GT_TUI_BY_SELF, GT_TUI_BY_CALLS, GT_TUI_BY_NAME, GT_TUI_SORTS };

struct gt_tui_page {
    char *title;
    struct gt_tree tree;
    bool *open;                     /* of each node */
    struct gt_function_table table; /* of a list; else empty */
    enum gt_tui_sort sort;
    GArray *lines; /* struct gt_tui_line: those that are there to be seen */
    guint at, top; /* the chosen line; the first one on the screen */
};

/* All calls, and all functions. Errors of gt_tree_make and gt_function_table_make. */
int gt_tui_page_graph(struct gt_reading *r, struct gt_tui_page **out, struct gt_error *err);
int gt_tui_page_report(struct gt_reading *r, struct gt_tui_page **out, struct gt_error *err);
/* What the function of a line calls, or who calls it, from the page of all calls. GT_E_NOMEM,
 * GT_E_RANGE. */
int gt_tui_page_part(struct gt_reading *r, const struct gt_tui_page *graph, uint32_t function,
                     bool callers, struct gt_tui_page **out, struct gt_error *err);
void gt_tui_page_destroy(struct gt_tui_page *p); /* NULL is fine */

/* The chosen line; NULL: there is none. */
const struct gt_tui_line *gt_tui_page_line(const struct gt_tui_page *p);
/* Opens or closes the chosen line; false: it has nothing below it, or is so already. */
bool gt_tui_page_open(struct gt_tui_page *p, bool open);
/* Chooses the first line below the chosen one, if that is open. */
void gt_tui_page_enter(struct gt_tui_page *p);
/* Chooses the line that the chosen one is below. */
void gt_tui_page_up(struct gt_tui_page *p);
/* A list: sorts it in the next way. */
void gt_tui_page_sort(struct gt_reading *r, struct gt_tui_page *p);
/* Opens or closes the chosen line and all below it. */
void gt_tui_page_open_all(struct gt_tui_page *p, bool open);
/* Chooses the next line, or the one before, that is below the same one. */
void gt_tui_page_sibling(struct gt_tui_page *p, bool next);
/* Chooses the next line after the chosen one, or before it (`back`), whose function has `text` in
 * its name, in closed nodes, too; false: there is none. */
bool gt_tui_page_find(struct gt_reading *r, struct gt_tui_page *p, const char *text, bool back);

#endif
