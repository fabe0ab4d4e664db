/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the screen of `guesttrace tui`: see screen.h. */
#include "cli/amount.h"
#include "cli/terminal_text.h"
#include "cli/tui/screen.h"

#include <curses.h>

enum { WIDTH = 11, NAME_COLUMNS = 29, STEP = 16 };

/* In a narrow terminal the name is more than the numbers: the n-th of them has as many columns. */
static bool has_room(int n)
{
    return COLS >= NAME_COLUMNS + WIDTH + n * STEP;
}

static char *text_of(const struct gt_tui_line *line, enum gt_tui_field field)
{
    char text[GT_AMOUNT_TIME_WIDTH + 8];
    uint64_t ns = field == GT_TUI_TOTAL   ? line->total
                  : field == GT_TUI_SELF  ? (uint64_t)MAX(line->self, 0)
                  : field == GT_TUI_SLEPT ? line->slept
                                          : line->total / MAX(line->calls, 1);
    if (field == GT_TUI_CALLS)
        return gt_cli_amount_exact(line->calls);
    if (field == GT_TUI_OPEN)
        return gt_cli_amount_exact(line->unreturned);
    *gt_cli_amount_put_time(text, ns) = '\0';
    return g_strdup(text);
}

/* The fields of a line, NULL: their headings; returns their columns. */
static int put_fields(const struct gt_tui_screen *s, const struct gt_tui_line *line)
{
    static const char *const headings[] = {"TOTAL", "SELF", "CALLS", "AVERAGE", "SLEPT", "OPEN"};
    int n = 0;
    for (int i = 0; i < GT_TUI_FIELDS; i++) {
        if (!s->field[i] || !has_room(n))
            continue;
        g_autofree char *text = line ? text_of(line, (enum gt_tui_field)i) : g_strdup(headings[i]);
        printw("%*s ", WIDTH - 1, text);
        n++;
    }
    return n * WIDTH;
}

static void put_line(const struct gt_tui_screen *s, const struct gt_tui_line *line)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    if (p->texts) {
        gt_cli_terminal_put_name(COLS - 1, p->texts->pdata[line->node]);
        return;
    }
    const int left = COLS - 1 - put_fields(s, line);
    const int indent = MIN((int)MIN(line->depth, 1000), MAX(left - 14, 0));
    for (int i = 0; i < indent; i++)
        addch(' ');
    if (p->n_nodes)
        addstr(!line->has_more ? "  " : line->is_open ? "- " : "+ ");
    gt_cli_terminal_put_name(left - indent - 2, gt_cli_reading_name(s->reading, line->function));
}

static void put_head(const struct gt_tui_screen *s)
{
    static const char *const sorts[] = {"total", "self", "calls", "name"};
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    attron(A_REVERSE);
    mvhline(0, 0, ' ', COLS);
    move(0, 0);
    const int used = has_room(2) && !p->texts ? put_fields(s, NULL) : 0;
    g_autofree char *title =
        !p->n_rows ? g_strdup(p->title) : g_strdup_printf("%s by %s", p->title, sorts[p->sort]);
    gt_cli_terminal_put_name(COLS - used - 1, title);
    attroff(A_REVERSE);
}

/* How long tasks slept in it, calls that did not return, and where the function is: "ran 1.000 us,
 * slept 2.000 ms  1 not returned  MODULE FILE:LINE". */
static void put_place(const struct gt_tui_screen *s, const struct gt_tui_line *line)
{
    const struct gtrace_function f = gt_cli_reading_function(s->reading, line->function);
    g_autoptr(GString) text = g_string_new(NULL);
    if (line->slept) {
        g_autofree char *ran = gt_cli_amount_time(line->total),
                        *slept = gt_cli_amount_time(line->slept);
        g_string_printf(text, "ran %s, slept %s  ", ran, slept);
    }
    if (line->unreturned) {
        g_autofree char *n = gt_cli_amount_exact(line->unreturned);
        g_string_append_printf(text, "%s not returned  ", n);
    }
    g_string_append(text, f.module);
    if (f.file)
        g_string_append_printf(text, "  %s:%u", f.file, f.line);
    gt_cli_terminal_put_name(COLS - 1, text->str);
}

static void put_foot(const struct gt_tui_screen *s)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    move(LINES - 1, 0);
    if (s->searching) {
        addch('/');
        gt_cli_terminal_put(COLS - 2, s->search);
    } else if (s->message) {
        gt_cli_terminal_put_name(COLS - 1, s->message);
    } else if (gt_tui_page_line(p) && !p->texts) {
        put_place(s, gt_tui_page_line(p));
    }
}

void gt_tui_screen_draw(struct gt_tui_screen *s)
{
    struct gt_tui_page *p = gt_tui_screen_page(s);
    const guint room = (guint)MAX(LINES - GT_TUI_HEAD - GT_TUI_FOOT, 1);
    if (p->at < p->top)
        p->top = p->at;
    if (p->at >= p->top + room)
        p->top = p->at - room + 1;
    erase();
    for (guint i = p->top; i < p->lines->len && i < p->top + room; i++) {
        move(GT_TUI_HEAD + (int)(i - p->top), 0);
        if (i == p->at)
            attron(A_BOLD | A_UNDERLINE);
        put_line(s, &g_array_index(p->lines, struct gt_tui_line, i));
        attroff(A_BOLD | A_UNDERLINE);
    }
    put_head(s);
    put_foot(s);
    if (p->lines->len == 0)
        mvaddnstr(GT_TUI_HEAD, 0, "There are no calls.", COLS - 1);
    refresh();
}
