/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of a screen, and their help: see keys.h. */
#include "cli/keys.h"

#include <curses.h>
#include <string.h>

enum { WIDE = 79, CELL = 39, NAMES = 16 }; /* columns: of two cells, of one, of the keys in it */
enum { BACKSPACE = 8, ESCAPE = 27, DELETE = 127 };

int gt_cli_key_action(const struct gt_cli_key *table, int key)
{
    for (; table->about; table++)
        for (size_t i = 0; table->action && i < GT_KEYS_SAME && table->key[i]; i++)
            if (table->key[i] == key)
                return table->action;
    return 0;
}

/* NULL: the key is its own name. */
static const char *name_of(int key)
{
    static const struct {
        int key;
        const char *name;
    } names[] = {
        {KEY_DOWN, "Down"},       {KEY_UP, "Up"},          {KEY_LEFT, "Left"},
        {KEY_RIGHT, "Right"},     {KEY_NPAGE, "PageDown"}, {KEY_PPAGE, "PageUp"},
        {KEY_HOME, "Home"},       {KEY_END, "End"},        {KEY_ENTER, "Enter"},
        {'\n', "Enter"},          {' ', "Space"},          {KEY_BACKSPACE, "Backspace"},
        {BACKSPACE, "Backspace"}, {DELETE, "Backspace"},   {ESCAPE, "Escape"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (names[i].key == key)
            return names[i].name;
    return NULL;
}

/* Several codes of a key have one name. */
static char *cell_of(const struct gt_cli_key *row)
{
    g_autoptr(GString) keys = g_string_new(NULL);
    const char *last = NULL;
    for (size_t i = 0; i < GT_KEYS_SAME && row->key[i]; i++) {
        const char *name = name_of(row->key[i]);
        if (name && last == name)
            continue;
        g_string_append(keys, keys->len ? " " : "");
        if (name)
            g_string_append(keys, name);
        else
            g_string_append_c(keys, (char)row->key[i]);
        last = name;
    }
    return row->key[0] ? g_strdup_printf("%-*s %s", NAMES, keys->str, row->about)
                       : g_strdup(row->about);
}

GPtrArray *gt_cli_key_help(const struct gt_cli_key *table, int columns)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    guint n = 0;
    while (table[n].about)
        n++;
    const guint half = columns >= WIDE ? (n + 1) / 2 : n;
    for (guint i = 0; i < half; i++) {
        g_autofree char *left = cell_of(&table[i]);
        g_autofree char *right = i + half < n ? cell_of(&table[i + half]) : NULL;
        char *line =
            right ? g_strdup_printf("%-*.*s %s", CELL, CELL, left, right) : g_steal_pointer(&left);
        if (strlen(line) > (size_t)MAX(columns, 0))
            line[MAX(columns, 0)] = '\0';
        g_ptr_array_add(lines, line);
    }
    return lines;
}

enum gt_cli_typed gt_cli_key_type(char *text, size_t most, int key)
{
    size_t n = strlen(text);
    if (key == '\n' || key == KEY_ENTER)
        return GT_CLI_TYPED;
    if (key == ESCAPE)
        return GT_CLI_TYPED_NOT;
    if (key == KEY_BACKSPACE || key == DELETE || key == BACKSPACE) {
        while (n > 0 && ((unsigned char)text[--n] & 0xc0) == 0x80) /* of a character of UTF-8 */
            text[n] = '\0';
        text[n] = '\0';
    } else if (key >= ' ' && key < 256 && n < most) {
        text[n] = (char)key;
        text[n + 1] = '\0';
    }
    return GT_CLI_TYPING;
}
