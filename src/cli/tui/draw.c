/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the screen of `guesttrace tui`: see screen.h. */
#include "cli/amount.h"
#include "cli/terminal_text.h"
#include "cli/tui/screen.h"

#include <curses.h>
#include <inttypes.h>

enum { NAME_COLUMNS = 29, HEAD_COLUMNS = 72, TENTHS = 1000, NS = 1000000000 };

/* Of a call in the list of hits. */
enum { TIME_WIDTH = 14, DURATION_WIDTH = 11, TASK_WIDTH = 8 };

static const struct {
    const char *heading, *of_task; /* of_task: NULL: tasks do not have it */
    int width;
} fields[GT_TUI_FIELDS] = {
    [GT_TUI_TOTAL] = {"TOTAL", "RAN", 11},   [GT_TUI_TOTAL_SHARE] = {"TOTAL%", "RAN%", 7},
    [GT_TUI_SELF] = {"SELF", NULL, 11},      [GT_TUI_SELF_SHARE] = {"SELF%", NULL, 7},
    [GT_TUI_CALLS] = {"CALLS", "CALLS", 11}, [GT_TUI_AVERAGE] = {"AVERAGE", NULL, 11},
    [GT_TUI_SLEPT] = {"SLEPT", "SLEPT", 11}, [GT_TUI_OPEN] = {"OPEN", NULL, 11},
};

/* Rounded down: less than all is never 100. */
static char *share_of(uint64_t part, uint64_t whole)
{
    const unsigned tenths =
        whole ? (unsigned)MIN((unsigned __int128)part * TENTHS / whole, TENTHS) : 0;
    return g_strdup_printf("%u.%u", tenths / 10, tenths % 10);
}

static char *text_of(const struct gt_tui_page *p, const struct gt_tui_line *line,
                     enum gt_tui_field field)
{
    char text[GT_AMOUNT_TIME_WIDTH + 8];
    const uint64_t self = (uint64_t)MAX(line->self, 0);
    uint64_t ns = field == GT_TUI_TOTAL   ? line->total
                  : field == GT_TUI_SELF  ? self
                  : field == GT_TUI_SLEPT ? line->slept
                                          : line->total / MAX(line->calls, 1);
    if (field == GT_TUI_TOTAL_SHARE || field == GT_TUI_SELF_SHARE)
        return share_of(field == GT_TUI_SELF_SHARE ? self : line->total, p->whole);
    if (field == GT_TUI_CALLS)
        return gt_cli_amount_exact(line->calls);
    if (field == GT_TUI_OPEN)
        return gt_cli_amount_exact(line->unreturned);
    *gt_cli_amount_put_time(text, ns) = '\0';
    return g_strdup(text);
}

/* With --wall the time that ran is not known apart. */
static const char *heading_of(const struct gt_tui_screen *s, enum gt_tui_field field)
{
    if (gt_tui_screen_page(s)->kind != GT_TUI_TASKS)
        return fields[field].heading;
    const bool wall = s->reading->window.part.wall;
    return wall && field == GT_TUI_TOTAL         ? "TIME"
           : wall && field == GT_TUI_TOTAL_SHARE ? "TIME%"
                                                 : fields[field].of_task;
}

static bool has_field(const struct gt_tui_screen *s, enum gt_tui_field field)
{
    return gt_tui_screen_page(s)->kind == GT_TUI_TASKS ? fields[field].of_task != NULL
                                                       : s->field[field];
}

/* The fields of a line, NULL: their headings; returns their columns. In a narrow terminal the name
 * is more than the numbers. */
static int put_fields(const struct gt_tui_screen *s, const struct gt_tui_line *line)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    int used = 0;
    for (int i = 0; i < GT_TUI_FIELDS; i++) {
        const enum gt_tui_field field = (enum gt_tui_field)i;
        const int width = fields[i].width;
        if (!has_field(s, field) || used + width + NAME_COLUMNS > COLS)
            continue;
        g_autofree char *text = line ? text_of(p, line, field) : g_strdup(heading_of(s, field));
        printw("%*s ", width - 1, text);
        used += width;
    }
    return used;
}

/* ---- calls that were found ----------------------------------------------------------------- */

/* The time since the recording's beginning, how long it took, the task; returns their columns. */
static int put_call_fields(const struct gt_tui_screen *s, const struct gtrace_row *row)
{
    struct gtrace_facts f = {.size = sizeof f};
    struct gtrace_task t = {.size = sizeof t};
    const bool has_time = COLS >= NAME_COLUMNS + DURATION_WIDTH + TIME_WIDTH,
               has_task = COLS >= NAME_COLUMNS + DURATION_WIDTH + TIME_WIDTH + TASK_WIDTH;
    if (COLS < NAME_COLUMNS + DURATION_WIDTH)
        return 0;
    g_autofree char *task = NULL, *time = NULL;
    char took[GT_AMOUNT_TIME_WIDTH + 8] = "  DURATION";
    if (row) {
        gtrace_facts(s->reading->trace, &f);
        gtrace_task(s->reading->trace, row->task, &t);
        const uint64_t at = row->begin - MIN(row->begin, f.first);
        time = g_strdup_printf("%" PRIu64 ".%09u", at / NS, (unsigned)(at % NS));
        task = g_strdup_printf("%" PRIu32, t.id);
        *gt_cli_amount_put_time(took, row->end - row->begin) = '\0';
    }
    if (has_time)
        printw("%*s ", TIME_WIDTH - 1, time ? time : "TIME");
    printw("%s ", took);
    if (has_task)
        printw("%*s ", TASK_WIDTH - 1, task ? task : "TASK");
    return DURATION_WIDTH + (has_time ? TIME_WIDTH : 0) + (has_task ? TASK_WIDTH : 0);
}

static void put_call(const struct gt_tui_screen *s, const struct gt_tui_line *line, bool chosen)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    const int used = put_call_fields(s, gt_tui_hits_row(p, line->node));
    const char *values = gt_tui_hits_values(s->reading, p, line->node, chosen);
    g_autofree char *name =
        g_strdup_printf("%s%s", gt_cli_reading_name(s->reading, line->function), values);
    gt_cli_terminal_put_name(COLS - 1 - used, name);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void put_line(const struct gt_tui_screen *s, const struct gt_tui_line *line, bool chosen)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    if (p->texts) {
        const int used = p->n_rows ? put_fields(s, line) : 0;
        gt_cli_terminal_put_name(COLS - 1 - used, p->texts->pdata[line->node]);
        return;
    }
    if (p->hits) {
        put_call(s, line, chosen);
        return;
    }
    const int left = COLS - 1 - put_fields(s, line);
    const int indent = MIN((int)MIN(line->depth, 1000), MAX(left - 14, 0));
    for (int i = 0; i < indent; i++)
        addch(' ');
    if (p->n_nodes && left > 2)
        addstr(!line->has_more ? "  " : line->is_open ? "- " : "+ ");
    gt_cli_terminal_put_name(left - indent - 2, gt_cli_reading_name(s->reading, line->function));
}

static const char *order_of(const struct gt_tui_page *p)
{
    static const char *const functions[] = {"total", "self", "calls", "name"},
                             *const tasks[] = {"number", "time", "calls", "slept"},
                             *const hits[] = {"time", "duration", "task", "name"};
    return (p->kind == GT_TUI_TASKS  ? tasks
            : p->kind == GT_TUI_HITS ? hits
                                     : functions)[p->sort % G_N_ELEMENTS(functions)];
}

static void put_head(const struct gt_tui_screen *s)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    int used = 0;
    attron(A_REVERSE);
    mvhline(0, 0, ' ', COLS);
    move(0, 0);
    if (COLS >= HEAD_COLUMNS && p->hits)
        used = put_call_fields(s, NULL);
    else if (COLS >= HEAD_COLUMNS && (!p->texts || p->n_rows))
        used = put_fields(s, NULL);
    g_autofree char *title = p->n_rows || p->hits
                                 ? g_strdup_printf("%s by %s", p->title, order_of(p))
                                 : g_strdup(p->title);
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

/* Which of the calls that were found it is, and where its function is. */
static void put_hit_place(const struct gt_tui_screen *s, const struct gt_tui_line *line)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    const struct gtrace_row *row = gt_tui_hits_row(p, line->node);
    const struct gtrace_function f = gt_cli_reading_function(s->reading, line->function);
    g_autofree char *n = gt_cli_amount_exact(p->at + 1),
                    *all = gt_cli_amount_exact(gt_tui_hits_all(p));
    g_autofree char *text = g_strdup_printf(
        "%s of %s  %s%s", n, all, row->flags & GTRACE_OPEN ? "not returned  " : "", f.module);
    gt_cli_terminal_put_name(COLS - 1, text);
}

/* Of keys that do not fit onto the screen. */
static void put_more(const struct gt_tui_page *p)
{
    const guint room = gt_tui_screen_room(), n = p->lines->len;
    if (n > room) {
        g_autofree char *text = g_strdup_printf("%u to %u of %u; Space: the next ones", p->top + 1,
                                                MIN(p->top + room, n), n);
        gt_cli_terminal_put(COLS - 1, text);
    }
}

static void put_foot(const struct gt_tui_screen *s)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    const struct gt_tui_line *line = gt_tui_page_line(p);
    move(LINES - 1, 0);
    if (s->types) {
        gt_cli_terminal_put(COLS - 1, "/");
        gt_cli_terminal_put(COLS - 2, s->typed);
    } else if (s->message) {
        gt_cli_terminal_put_name(COLS - 1, s->message);
    } else if (p->kind == GT_TUI_KEYS) {
        put_more(p);
    } else if (line && p->hits) {
        put_hit_place(s, line);
    } else if (line && !p->texts) {
        put_place(s, line);
    }
}

guint gt_tui_screen_room(void)
{
    return (guint)MAX(LINES - GT_TUI_HEAD - GT_TUI_FOOT, 1);
}

/* The lines of the keys depend on the terminal's columns. */
static void fit_keys(struct gt_tui_screen *s)
{
    struct gt_tui_page *p = gt_tui_screen_page(s), *fits;
    if (p->kind != GT_TUI_KEYS || p->columns == COLS)
        return;
    fits = gt_tui_page_keys(COLS);
    fits->at = MIN(p->at, fits->lines->len - 1);
    g_ptr_array_set_size(s->pages, (gint)s->pages->len - 1);
    g_ptr_array_add(s->pages, fits);
}

void gt_tui_screen_draw(struct gt_tui_screen *s)
{
    fit_keys(s);
    struct gt_tui_page *p = gt_tui_screen_page(s);
    const guint room = gt_tui_screen_room();
    if (p->kind == GT_TUI_KEYS) /* no line is chosen: moves turn the pages */
        p->at = p->top = MIN(p->at, p->lines->len - MIN(room, p->lines->len));
    if (p->at < p->top)
        p->top = p->at;
    if (p->at >= p->top + room)
        p->top = p->at - room + 1;
    erase();
    for (guint i = p->top; i < p->lines->len && i < p->top + room; i++) {
        move(GT_TUI_HEAD + (int)(i - p->top), 0);
        if (i == p->at && p->kind != GT_TUI_KEYS)
            attron(A_BOLD | A_UNDERLINE);
        put_line(s, &g_array_index(p->lines, struct gt_tui_line, i), i == p->at);
        attroff(A_BOLD | A_UNDERLINE);
    }
    put_head(s);
    put_foot(s);
    if (p->lines->len == 0)
        mvaddnstr(GT_TUI_HEAD, 0, "There are no calls.", COLS - 1);
    refresh();
}
