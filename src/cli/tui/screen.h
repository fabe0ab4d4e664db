/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of `guesttrace tui`: draw.c draws it, command.c takes keys. */
#ifndef GT_CLI_TUI_SCREEN_H
#define GT_CLI_TUI_SCREEN_H

#include "cli/tui/hits.h"

enum {
    GT_TUI_HEAD = 1, /* lines above and below the list */
    GT_TUI_FOOT = 1,
};

struct gt_tui_screen {
    struct gt_cli_reading *reading;
    GPtrArray *pages; /* struct gt_tui_page *, the last one is seen; the first is all calls */
    struct gt_tui_page *graph;
    const char *const *tasks; /* of the window that the command began with; NULL: all */
    uint32_t chosen;          /* the task that is shown alone, from 1; 0: those */
    char id[16];              /* its number */
    const char *one[2];       /* the same, as a list */
    bool field[GT_TUI_FIELDS];
    struct gt_tui_search search;
    char typed[GT_TUI_TEXT + 1];
    const char *message;
    bool types; /* the text of a search */
};

static inline struct gt_tui_page *gt_tui_screen_page(const struct gt_tui_screen *s)
{
    return s->pages->pdata[s->pages->len - 1];
}

/* Lines of the page that are on the screen at once. */
guint gt_tui_screen_room(void);
void gt_tui_screen_draw(struct gt_tui_screen *s);

#endif
