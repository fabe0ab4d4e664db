/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace tui`: a recording's calls and functions, to walk through in the terminal. */
#include "cli/amount.h"
#include "cli/reading.h"
#include "cli/terminal_text.h"
#include "cli/tui/page.h"

#include <curses.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_BYTES = 60, /* of a search */
    TIME_COLUMNS = 11,
    CALLS_COLUMNS = 12,
    HEAD = 1, /* lines above and below the list */
    FOOT = 1,
};

struct screen {
    struct gt_reading *reading;
    GPtrArray *pages; /* struct gt_tui_page *, the last one is seen; the first is all calls */
    struct gt_tui_page *graph;
    char search[TEXT_BYTES + 1];
    const char *message;
    bool searching;
};

static const char keys[] = "arrows Enter: open, close  g: calls of  b: callers  R: functions  "
                           "s: sort  / N P: search  Backspace: back  q: quit";

static struct gt_tui_page *page_of(const struct screen *s)
{
    return s->pages->pdata[s->pages->len - 1];
}

/* ---- drawing ------------------------------------------------------------------------------- */

static int put_time(uint64_t ns)
{
    char text[GT_AMOUNT_TIME_WIDTH + 8];
    *gt_amount_put_time(text, ns) = '\0';
    addstr(text);
    addch(' ');
    return TIME_COLUMNS;
}

/* In a narrow terminal the name is more than the numbers. */
static void put_line(const struct screen *s, const struct gt_tui_line *line)
{
    int left = COLS - 1;
    if (COLS >= 40)
        left -= put_time(line->total);
    if (COLS >= 56)
        left -= put_time((uint64_t)MAX(line->self, 0));
    if (COLS >= 72) {
        g_autofree char *calls = gt_amount_exact(line->calls);
        printw("%*s ", CALLS_COLUMNS - 1, calls);
        left -= CALLS_COLUMNS;
    }
    const int indent = MIN((int)MIN(line->depth, 1000), MAX(left - 14, 0));
    for (int i = 0; i < indent; i++)
        addch(' ');
    if (page_of(s)->tree.n)
        addstr(!line->has_more ? "  " : line->is_open ? "- " : "+ ");
    gt_terminal_put_name(left - indent - 2, gt_reading_name(s->reading, line->function));
}

static void put_head(const struct screen *s)
{
    static const char *const sorts[] = {"total", "self", "calls", "name"};
    const struct gt_tui_page *p = page_of(s);
    attron(A_REVERSE);
    mvhline(0, 0, ' ', COLS);
    move(0, 0);
    if (COLS >= 72)
        addstr("     TOTAL       SELF       CALLS ");
    g_autofree char *title = p->tree.n || !p->table.n
                                 ? g_strdup(p->title)
                                 : g_strdup_printf("%s by %s", p->title, sorts[p->sort]);
    g_autofree char *shown = gt_reading_shown(title);
    gt_terminal_put(COLS - (COLS >= 72 ? 34 : 0) - 1, shown);
    attroff(A_REVERSE);
}

/* Where the function is: "MODULE  FILE:LINE". */
static void put_place(const struct screen *s, uint32_t function)
{
    const struct gt_calls_function *f = gt_calls_function(s->reading->calls, function);
    g_autofree char *text =
        f->file ? g_strdup_printf("%s  %s:%u", f->module, f->file, f->line) : g_strdup(f->module);
    gt_terminal_put_name(COLS - 1, text);
}

static void put_foot(const struct screen *s)
{
    move(LINES - 1, 0);
    if (s->searching) {
        addch('/');
        gt_terminal_put(COLS - 2, s->search);
    } else if (s->message) {
        gt_terminal_put(COLS - 1, s->message);
    } else if (gt_tui_page_line(page_of(s))) {
        put_place(s, gt_tui_page_line(page_of(s))->function);
    }
}

static void draw(struct screen *s)
{
    struct gt_tui_page *p = page_of(s);
    const guint room = (guint)MAX(LINES - HEAD - FOOT, 1);
    if (p->at < p->top)
        p->top = p->at;
    if (p->at >= p->top + room)
        p->top = p->at - room + 1;
    erase();
    for (guint i = p->top; i < p->lines->len && i < p->top + room; i++) {
        move(HEAD + (int)(i - p->top), 0);
        if (i == p->at)
            attron(A_BOLD | A_UNDERLINE);
        put_line(s, &g_array_index(p->lines, struct gt_tui_line, i));
        attroff(A_BOLD | A_UNDERLINE);
    }
    put_head(s);
    put_foot(s);
    if (p->lines->len == 0)
        mvaddnstr(HEAD, 0, "There are no calls.", COLS - 1);
    refresh();
}

/* ---- keys ---------------------------------------------------------------------------------- */

static int show_page(struct screen *s, struct gt_tui_page *page, int status)
{
    if (status < 0)
        gt_tui_page_destroy(page);
    else
        g_ptr_array_add(s->pages, page);
    return status;
}

static int show_part(struct screen *s, bool callers, struct gt_error *err)
{
    const struct gt_tui_line *line = gt_tui_page_line(page_of(s));
    struct gt_tui_page *page;
    if (!line)
        return 0;
    int status = gt_tui_page_part(s->reading, s->graph, line->function, callers, &page, err);
    return show_page(s, page, status);
}

static void find(struct screen *s, bool back)
{
    if (*s->search && !gt_tui_page_find(s->reading, page_of(s), s->search, back))
        s->message = "there is no other function of that name";
}

static void take_search(struct screen *s, int key)
{
    const size_t n = strlen(s->search);
    if (key == '\n' || key == KEY_ENTER) {
        s->searching = false;
        find(s, false);
    } else if (key == 27) {
        s->searching = false;
    } else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n) {
        s->search[n - 1] = '\0';
    } else if (key >= ' ' && key < 256 && key != 127 && n < TEXT_BYTES) {
        s->search[n] = (char)key;
        s->search[n + 1] = '\0';
    }
}

static void move_by(struct gt_tui_page *p, int lines)
{
    const int64_t to = (int64_t)p->at + lines, last = (int64_t)p->lines->len - 1;
    p->at = (guint)CLAMP(to, 0, MAX(last, 0));
}

/* Keys of the tree, those of uftrace's tui; false: another one. */
static bool take_tree(struct gt_tui_page *p, int key)
{
    switch (key) {
    case 'c':
    case 'e':
        gt_tui_page_open(p, key == 'e');
        return true;
    case 'C':
    case 'E':
        gt_tui_page_open_all(p, key == 'E');
        return true;
    case 'n':
    case 'p':
        gt_tui_page_sibling(p, key == 'n');
        return true;
    case 'u':
        gt_tui_page_up(p);
        return true;
    case 'l': /* what takes longest is first */
        gt_tui_page_open(p, true);
        gt_tui_page_enter(p);
        return true;
    case 'z':
        p->top = p->at - MIN(p->at, (guint)MAX(LINES - HEAD - FOOT, 1) / 2);
        return true;
    default:
        return false;
    }
}

/* Keys that move; false: another one. */
static bool take_move(struct gt_tui_page *p, int key)
{
    switch (key) {
    case KEY_DOWN:
    case 'j':
        move_by(p, 1);
        return true;
    case KEY_UP:
    case 'k':
        move_by(p, -1);
        return true;
    case KEY_NPAGE:
    case ' ':
        move_by(p, LINES - 3);
        return true;
    case KEY_PPAGE:
        move_by(p, 3 - LINES);
        return true;
    case KEY_HOME:
        p->at = 0;
        return true;
    case KEY_END:
        move_by(p, INT32_MAX);
        return true;
    case KEY_RIGHT:
        if (!gt_tui_page_open(p, true))
            gt_tui_page_enter(p);
        return true;
    case KEY_LEFT:
        if (!gt_tui_page_open(p, false))
            gt_tui_page_up(p);
        return true;
    default:
        return false;
    }
}

/* Enter: of a list, what the function calls; of a tree, the chosen line opens or closes. */
static int take_enter(struct screen *s, struct gt_error *err)
{
    struct gt_tui_page *p = page_of(s);
    if (p->table.n)
        return show_part(s, false, err);
    if (!gt_tui_page_open(p, true))
        gt_tui_page_open(p, false);
    return 0;
}

/* 1: the end. Errors of pages. */
static int take_key(struct screen *s, int key, struct gt_error *err)
{
    struct gt_tui_page *p = page_of(s), *page;
    int status = 0;
    s->message = NULL;
    if (s->searching)
        take_search(s, key);
    else if (key == '\n' || key == KEY_ENTER)
        status = take_enter(s, err);
    else if (key == 'g' || key == 'b')
        status = show_part(s, key == 'b', err);
    else if (key == 'h' || key == '?')
        s->message = keys;
    else if (key == 'G')
        g_ptr_array_set_size(s->pages, 1);
    else if (key == 'R') {
        status = gt_tui_page_report(s->reading, &page, err);
        status = show_page(s, page, status);
    } else if (key == 's' && p->table.n)
        gt_tui_page_sort(s->reading, p);
    else if (key == '/') {
        s->searching = true;
        *s->search = '\0';
    } else if (key == 'N' || key == '>' || key == 'P' || key == '<')
        find(s, key == 'P' || key == '<');
    else if ((key == KEY_BACKSPACE || key == 127 || key == 27) && s->pages->len > 1)
        g_ptr_array_set_size(s->pages, (gint)s->pages->len - 1);
    else if (key == 'q' || key == ERR)
        return 1;
    else if (!take_move(p, key))
        take_tree(p, key);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

static void destroy_page(gpointer page)
{
    gt_tui_page_destroy(page);
}

static int walk(struct gt_reading *r, const void *user, struct gt_error *err)
{
    struct screen s = {.reading = r, .message = keys};
    (void)user;
    s.pages = g_ptr_array_new_with_free_func(destroy_page);
    int status = gt_tui_page_graph(r, &s.graph, err);
    g_ptr_array_add(s.pages, s.graph);
    void *terminal = status < 0 ? NULL : gt_terminal_open(err);
    if (status == 0 && !terminal)
        status = GT_E_UNSUPPORTED;
    if (terminal) {
        do
            draw(&s);
        while ((status = take_key(&s, getch(), err)) == 0);
        gt_terminal_close(terminal);
    }
    g_ptr_array_free(s.pages, TRUE);
    return MIN(status, 0);
}

struct tui_options {
    struct gt_reading_options reading;
};

static const struct gt_option tui_table[] = {GT_READING_OPTIONS(struct tui_options, reading), {0}};

static int run_tui(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    const struct tui_options *o = options;
    if (n == 1 && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        return gt_command_fail(self, GT_EXIT_FAILED,
                               "this is no terminal; guesttrace graph and report print the same");
    setlocale(LC_CTYPE, "");
    return gt_reading_run(self, &o->reading, n, operands, walk, NULL);
}

const struct gt_command gt_command_tui = {
    .name = "tui",
    .summary = "walk through a recording's calls and functions in the terminal",
    .usage = (const char *const[]){"[OPTION]... [RECORDING]", NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "Shows the calls as a tree, with total and self times and the number of calls; what a "
            "function calls most is first. Keys are those of uftrace tui: arrows, j and k move, "
            "open and close; Enter, e and c open and close, E and C with all that is below; u, n, "
            "p and l go to the parent, the next and previous line of it, the longest call. g shows "
            "what "
            "the function calls everywhere, b who calls it, R all functions, which s sorts by "
            "total, self, calls and name, G all calls. / searches, N and P go on and back. "
            "Backspace or Escape goes back, h lists keys, q ends. The last line has the module and "
            "the source line of the chosen function.",
            NULL},
    .spec = {.table = tui_table},
    .options_size = sizeof(struct tui_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_tui,
};
