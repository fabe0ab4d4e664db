/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace tui` shows: a list of functions, a tree of calls whose nodes can be opened,
 * texts, tasks, or calls that a search has found (hits.h). */
#ifndef GT_CLI_TUI_PAGE_H
#define GT_CLI_TUI_PAGE_H

#include "cli/reading.h"
#include "cli/tui/search.h"

struct gt_tui_line {
    uint64_t calls, unreturned, total, slept;
    int64_t self;
    uint32_t function;
    uint32_t node;  /* of the tree; of a list: the row */
    uint32_t depth; /* from 0 */
    bool has_more, is_open;
};

/* Of functions; of tasks; of hits see enum gtrace_order. */
enum gt_tui_sort {
    GT_TUI_BY_TOTAL,
    GT_TUI_BY_SELF,
    GT_TUI_BY_CALLS,
    GT_TUI_BY_NAME,
    GT_TUI_SORTS,
    GT_TUI_TASKS_BY_NUMBER = 0,
    GT_TUI_TASKS_BY_TOTAL,
    GT_TUI_TASKS_BY_CALLS,
    GT_TUI_TASKS_BY_SLEPT,
};

enum gt_tui_field {
    GT_TUI_TOTAL,
    GT_TUI_TOTAL_SHARE, /* of the time that ran */
    GT_TUI_SELF,
    GT_TUI_SELF_SHARE,
    GT_TUI_CALLS,
    GT_TUI_AVERAGE,
    GT_TUI_SLEPT,
    GT_TUI_OPEN,
    GT_TUI_FIELDS
};

enum gt_tui_kind {
    GT_TUI_TREE,
    GT_TUI_FUNCTIONS,
    GT_TUI_INFO,
    GT_TUI_TASKS,
    GT_TUI_FIELD_LIST,
    GT_TUI_HITS,
    GT_TUI_KEYS,
};

struct gt_tui_page {
    enum gt_tui_kind kind;
    char *title;
    GPtrArray *texts;         /* char *, a line each; NULL: functions */
    struct gtrace_node *node; /* of a tree; else NULL */
    uint32_t n_nodes;
    bool *open;             /* of each node */
    struct gtrace_sum *row; /* of a list; of tasks, each with its text; else NULL */
    uint32_t n_rows;
    uint64_t whole; /* the time that ran, of which shares are */
    struct gt_tui_hits *hits;
    void (*free_hits)(struct gt_tui_hits *hits); /* NULL: there are none */
    enum gt_tui_sort sort;
    GArray *lines; /* struct gt_tui_line: those that are there to be seen */
    guint at, top; /* the chosen line; the first one on the screen */
    int columns;   /* of the terminal that keys were listed for */
};

/* All calls, and all functions. Errors of gtrace_tree and gtrace_sums. */
int gt_tui_page_graph(struct gt_cli_reading *r, struct gt_tui_page **out, struct gt_error *err);
int gt_tui_page_report(struct gt_cli_reading *r, struct gt_tui_page **out, struct gt_error *err);
/* What the function of a line calls, or who calls it, from the page of all calls. GT_E_NOMEM,
 * GT_E_RANGE. */
int gt_tui_page_part(struct gt_cli_reading *r, const struct gt_tui_page *graph, uint32_t function,
                     bool callers, struct gt_tui_page **out, struct gt_error *err);
/* All functions that a function calls, at once or through others, and itself, from the page of all
 * calls. */
struct gt_tui_page *gt_tui_page_report_below(struct gt_cli_reading *r,
                                             const struct gt_tui_page *graph, uint32_t function);
/* Lines of text; the page takes the array. */
struct gt_tui_page *gt_tui_page_texts(enum gt_tui_kind kind, const char *title, GPtrArray *texts);
/* What `guesttrace info` prints. Errors of gt_cli_info_read. */
int gt_tui_page_info(struct gt_cli_reading *r, struct gt_tui_page **out, struct gt_error *err);
/* "all tasks" and each task of the window, with its times; line `chosen` is marked. Errors of
 * gtrace_sums. */
int gt_tui_page_tasks(struct gt_cli_reading *r, const char *const *tasks, uint32_t chosen,
                      struct gt_tui_page **out, struct gt_error *err);
struct gt_tui_page *gt_tui_page_fields(const bool field[GT_TUI_FIELDS]);
/* The keys, in a terminal of that many columns. */
struct gt_tui_page *gt_tui_page_keys(int columns);
/* A page without lines; it takes the title. */
struct gt_tui_page *gt_tui_page_new(enum gt_tui_kind kind, char *title);
/* Makes the lines of the rows, of the texts, or of the tree's open nodes. */
void gt_tui_page_list(struct gt_tui_page *p);
void gt_tui_page_destroy(struct gt_tui_page *p); /* NULL is fine */

/* The chosen line; NULL: there is none. */
const struct gt_tui_line *gt_tui_page_line(const struct gt_tui_page *p);
/* Opens or closes the chosen line; false: it has nothing below it, or is so already. */
bool gt_tui_page_open(struct gt_tui_page *p, bool open);
/* Chooses the first line below the chosen one, if that is open. */
void gt_tui_page_enter(struct gt_tui_page *p);
/* Chooses the line that the chosen one is below. */
void gt_tui_page_up(struct gt_tui_page *p);
/* A list, or tasks: sorts it in the next way. Of tasks by number, total, calls, time suspended. */
void gt_tui_page_sort(struct gt_cli_reading *r, struct gt_tui_page *p);
/* Opens or closes the chosen line and all below it. */
void gt_tui_page_open_all(struct gt_tui_page *p, bool open);
/* Chooses the next line, or the one before, that is below the same one. */
void gt_tui_page_sibling(struct gt_tui_page *p, bool next);
/* Chooses the next line after the chosen one, or before it (`back`), that is sought, in closed
 * nodes, too; false: there is none. */
bool gt_tui_page_find(struct gt_tui_page *p, const struct gt_tui_search *s, bool back);

#endif
