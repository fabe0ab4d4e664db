/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a screen. One table says which keys there are, what each does, and what the help has
 * about it: a key that the screen takes is in its help.
 */
#ifndef GT_CLI_KEYS_H
#define GT_CLI_KEYS_H

#include <glib.h>

enum { GT_KEYS_SAME = 5 };

/* A row; `about` NULL: the table's end. */
struct gt_cli_key {
    int key[GT_KEYS_SAME]; /* of curses, which do the same; until 0 */
    int action;            /* of the screen; 0: the row is a line of the help alone */
    const char *about;
};

/* What the key does; 0: nothing. */
int gt_cli_key_action(const struct gt_cli_key *table, int key);

/* The lines of the help in a terminal of that many columns: char *, in ASCII, none longer than
 * that. From 79 on there are two rows of the table in a line. g_ptr_array_unref. */
GPtrArray *gt_cli_key_help(const struct gt_cli_key *table, int columns);

/* A text that is typed, key by key. */
enum gt_cli_typed { GT_CLI_TYPING, GT_CLI_TYPED, GT_CLI_TYPED_NOT };
/* Enter, and Escape, end it; `text` has room for `most` bytes and the NUL. */
enum gt_cli_typed gt_cli_key_type(char *text, size_t most, int key);

#endif
