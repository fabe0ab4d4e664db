/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of guests, and screens of ncurses: see terminal_text.h. */
#include "cli/terminal_text.h"

#include "base/text.h"

#include <curses.h>
#include <glib.h>
#include <string.h>

enum { NAME_BYTES = 1000 }; /* of a name that are looked at */

char *gt_cli_shown(const char *text)
{
    size_t n = strlen(text);
    char *shown = g_malloc(GT_ESCAPE_GROWTH * n + 1);
    *gt_text_escape_put(shown, text, n) = '\0';
    return shown;
}

void gt_cli_shown_put(struct gt_output *out, const char *text)
{
    size_t n = strlen(text);
    if (n <= GT_OUTPUT_SIZE / GT_ESCAPE_GROWTH) {
        char *at = gt_output_room(out, GT_ESCAPE_GROWTH * n);
        gt_output_end(out, gt_text_escape_put(at, text, n));
        return;
    }
    g_autofree char *shown = gt_cli_shown(text);
    gt_output_text(out, shown);
}

/* ---- screens -------------------------------------------------------------------------------- */

void *gt_cli_terminal_open(struct gt_error *err)
{
    SCREEN *terminal = newterm(NULL, stdout, stdin);
    if (!terminal) {
        gt_error_set(err, GT_E_UNSUPPORTED, "the terminal '%.40s' is not known; set TERM",
                     g_getenv("TERM") ? g_getenv("TERM") : "");
        return NULL;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    return terminal;
}

void gt_cli_terminal_close(void *terminal)
{
    endwin();
    delscreen(terminal);
}

void gt_cli_terminal_put(int columns, const char *text)
{
    for (const char *at = text; *at && columns > 0; at = g_utf8_next_char(at)) {
        const gunichar c = g_utf8_get_char_validated(at, -1);
        const bool is_shown = c < 0x110000 && g_unichar_isprint(c) && !g_unichar_iszerowidth(c);
        const int width = is_shown && g_unichar_iswide(c) ? 2 : 1;
        if (width > columns)
            return;
        if (is_shown)
            addnstr(at, (int)(g_utf8_next_char(at) - at));
        else
            addch('?');
        columns -= width;
        if (c >= 0x110000)
            return;
    }
}

void gt_cli_terminal_put_name(int columns, const char *name)
{
    g_autofree char *cut = g_strndup(name, MIN(strlen(name), (size_t)NAME_BYTES));
    g_autofree char *valid = g_utf8_make_valid(cut, -1);
    g_autofree char *shown = gt_cli_shown(valid);
    gt_cli_terminal_put(columns, shown);
}
