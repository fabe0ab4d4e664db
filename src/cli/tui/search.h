/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace tui` seeks: a text, and the functions that it finds. */
#ifndef GT_CLI_TUI_SEARCH_H
#define GT_CLI_TUI_SEARCH_H

#include "cli/reading.h"

enum { GT_TUI_TEXT = 60 }; /* bytes of a search */

struct gt_tui_search {
    char text[GT_TUI_TEXT + 1];
    struct gtrace_search *find; /* NULL: nothing is sought */
    GByteArray *found;          /* enum gtrace_found, by function */
    guint exact, all;           /* functions of that very name; functions that match */
    bool others;                /* exact ones are not preferred */
    char said[200];             /* what came of it */
};

/* Seeks another text; `said` has how many functions match, or its error. */
void gt_tui_search_set(struct gt_tui_search *s, const struct gt_cli_reading *r, const char *text);
/* The same text, with all functions that match, or the exact ones again. */
void gt_tui_search_switch(struct gt_tui_search *s);
/* Nothing is sought. */
void gt_tui_search_clear(struct gt_tui_search *s); /* { 0 } is fine */

/* The function is sought; where some have exactly that name, they alone are. */
bool gt_tui_search_wants(const struct gt_tui_search *s, uint32_t function);
/* A line of a page of texts matches. */
bool gt_tui_search_wants_text(const struct gt_tui_search *s, const char *text);

#endif
