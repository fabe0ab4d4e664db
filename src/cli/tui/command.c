/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace tui`: a recording's calls and functions, to walk through in the terminal. */
#include "cli/reading.h"
#include "cli/terminal_text.h"
#include "cli/tui/screen.h"

#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char keys[] =
    "arrows Enter: open, close  g: calls of  b: callers  r: functions below  "
    "R: functions  s: sort  S: tasks  I: info  O: editor  f: fields  "
    "/ N P: search  Backspace: back  q: quit";

/* ---- keys ---------------------------------------------------------------------------------- */

static int show_page(struct gt_tui_screen *s, struct gt_tui_page *page, int status)
{
    if (status < 0)
        gt_tui_page_destroy(page);
    else
        g_ptr_array_add(s->pages, page);
    return status;
}

static int show_part(struct gt_tui_screen *s, bool callers, struct gt_error *err)
{
    const struct gt_tui_line *line = gt_tui_page_line(gt_tui_screen_page(s));
    struct gt_tui_page *page;
    if (!line || gt_tui_screen_page(s)->texts)
        return 0;
    int status = gt_tui_page_part(s->reading, s->graph, line->function, callers, &page, err);
    return show_page(s, page, status);
}

static void find(struct gt_tui_screen *s, bool back)
{
    if (*s->search && !gt_tui_page_find(s->reading, gt_tui_screen_page(s), s->search, back))
        s->message = "there is no other function of that name";
}

static void take_search(struct gt_tui_screen *s, int key)
{
    const size_t n = strlen(s->search);
    if (key == '\n' || key == KEY_ENTER) {
        s->searching = false;
        find(s, false);
    } else if (key == 27) {
        s->searching = false;
    } else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n) {
        s->search[n - 1] = '\0';
    } else if (key >= ' ' && key < 256 && key != 127 && n < GT_TUI_TEXT) {
        s->search[n] = (char)key;
        s->search[n + 1] = '\0';
    }
}

static void move_by(struct gt_tui_page *p, int lines)
{
    const int64_t to = (int64_t)p->at + lines, last = (int64_t)p->lines->len - 1;
    p->at = (guint)CLAMP(to, 0, MAX(last, 0));
}

/* Keys of the tree, as in uftrace's tui; false: another one. */
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
        p->top = p->at - MIN(p->at, (guint)MAX(LINES - GT_TUI_HEAD - GT_TUI_FOOT, 1) / 2);
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

/* ---- what keys show ------------------------------------------------------------------------ */

/* The graph of the chosen task, 0: of all that the command shows; pages of others are left. */
static int show_chosen(struct gt_tui_screen *s, uint32_t chosen, struct gt_error *err)
{
    struct gt_tui_page *graph;
    struct gtrace_task t = {.size = sizeof t};
    if (chosen)
        gtrace_task(s->reading->trace, chosen - 1, &t);
    g_snprintf(s->id, sizeof s->id, "%" PRIu32, t.id);
    s->one[0] = s->id;
    s->reading->window.part.tasks = chosen ? s->one : s->tasks;
    int status = gt_tui_page_graph(s->reading, &graph, err);
    s->chosen = chosen;
    g_ptr_array_set_size(s->pages, 0);
    g_ptr_array_add(s->pages, s->graph = graph);
    if (chosen && status == 0) {
        g_free(graph->title);
        graph->title = g_strdup_printf("calls of task %" PRIu32, t.id);
    }
    return status;
}

static bool has_task(const struct gt_tui_screen *s, uint32_t index)
{
    const size_t n = gtrace_n_tasks(s->reading->trace);
    g_autofree bool *some = g_new0(bool, n + 1);
    for (const char *const *task = s->tasks; task && *task; task++)
        gtrace_choose_tasks(s->reading->trace, *task, some, n, NULL);
    return !s->tasks || some[index];
}

/* The task of a line of the list of tasks; the first one is all. */
static int choose_task(struct gt_tui_screen *s, uint32_t row, struct gt_error *err)
{
    if (!row || has_task(s, row - 1))
        return show_chosen(s, row, err);
    s->message = "the command's options leave this task out";
    return 0;
}

static void show_fields(struct gt_tui_screen *s)
{
    g_ptr_array_add(s->pages, gt_tui_page_fields(s->field));
}

static void switch_field(struct gt_tui_screen *s, uint32_t field)
{
    s->field[field] = !s->field[field];
    g_ptr_array_set_size(s->pages, (gint)s->pages->len - 1);
    show_fields(s);
    gt_tui_screen_page(s)->at = field;
}

/* Enter: of a list, what the function calls; of a tree, the chosen line opens or closes. */
static int take_enter(struct gt_tui_screen *s, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_screen_page(s);
    const struct gt_tui_line *line = gt_tui_page_line(p);
    if (p->kind == GT_TUI_FUNCTIONS)
        return show_part(s, false, err);
    if (p->kind == GT_TUI_TASKS && line)
        return choose_task(s, line->node, err);
    if (p->kind == GT_TUI_FIELD_LIST && line)
        switch_field(s, line->node);
    else if (p->kind == GT_TUI_TREE && !gt_tui_page_open(p, true))
        gt_tui_page_open(p, false);
    return 0;
}

static const char *editor_of_user(void)
{
    static const char *const names[] = {"VISUAL", "EDITOR"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_getenv(names[i]) && *g_getenv(names[i]))
            return g_getenv(names[i]);
    return "vi";
}

/* Runs the editor of the environment, with the terminal as it was. */
static void run_editor(struct gt_tui_screen *s, const struct gtrace_function *f)
{
    g_autofree char *line = g_strdup_printf("+%u", f->line);
    g_autofree char *file = g_canonicalize_filename(f->file, NULL);
    g_auto(GStrv) words = NULL;
    int status = -1, n = 0;
    if (!g_shell_parse_argv(editor_of_user(), &n, &words, NULL)) {
        s->message = "VISUAL or EDITOR: no command";
        return;
    }
    words = g_realloc_n(words, (gsize)n + 3, sizeof *words);
    words[n] = g_steal_pointer(&line);
    words[n + 1] = g_steal_pointer(&file);
    words[n + 2] = NULL;
    def_prog_mode();
    endwin();
    const bool ran =
        g_spawn_sync(NULL, words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL,
                     NULL, NULL, NULL, &status, NULL);
    reset_prog_mode();
    refresh();
    if (!ran || status != 0)
        s->message = ran ? "the editor has failed" : "there is no such editor; set EDITOR";
}

static void open_editor(struct gt_tui_screen *s)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    const struct gt_tui_line *line = gt_tui_page_line(p);
    if (!line || p->texts)
        return;
    const struct gtrace_function f = gt_cli_reading_function(s->reading, line->function);
    if (!f.file)
        s->message = "the source line of this function is not known";
    else if (!g_file_test(f.file, G_FILE_TEST_IS_REGULAR))
        s->message = "the source file is not here";
    else
        run_editor(s, &f);
}

/* Keys that show another page; false: another one. */
static bool take_page(struct gt_tui_screen *s, int key, int *status, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_screen_page(s), *page;
    const struct gt_tui_line *line = gt_tui_page_line(p);
    if (key == 'g' || key == 'b')
        *status = show_part(s, key == 'b', err);
    else if (key == 'G')
        g_ptr_array_set_size(s->pages, 1);
    else if (key == 'R') {
        *status = gt_tui_page_report(s->reading, &page, err);
        *status = show_page(s, page, *status);
    } else if (key == 'I') {
        *status = gt_tui_page_info(s->reading, &page, err);
        *status = show_page(s, page, *status);
    } else if (key == 'r' && line && !p->texts)
        g_ptr_array_add(s->pages, gt_tui_page_report_below(s->reading, s->graph, line->function));
    else if (key == 'S')
        g_ptr_array_add(s->pages, gt_tui_page_tasks(s->reading, s->chosen));
    else if (key == 'f')
        show_fields(s);
    else
        return false;
    return true;
}

/* 1: the end. Errors of pages. */
static int take_key(struct gt_tui_screen *s, int key, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_screen_page(s);
    int status = 0;
    s->message = NULL;
    if (s->searching)
        take_search(s, key);
    else if (key == '\n' || key == KEY_ENTER)
        status = take_enter(s, err);
    else if (key == 'h' || key == '?')
        s->message = keys;
    else if (key == 's' && p->n_rows)
        gt_tui_page_sort(s->reading, p);
    else if (key == 'O')
        open_editor(s);
    else if (key == '/') {
        s->searching = true;
        *s->search = '\0';
    } else if (key == 'N' || key == '>' || key == 'P' || key == '<')
        find(s, key == 'P' || key == '<');
    else if ((key == KEY_BACKSPACE || key == 127 || key == 27) && s->pages->len > 1)
        g_ptr_array_set_size(s->pages, (gint)s->pages->len - 1);
    else if (key == 'q' || key == ERR)
        return 1;
    else if (!take_page(s, key, &status, err) && !take_move(p, key) && p->n_nodes)
        take_tree(p, key);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

static void destroy_page(gpointer page)
{
    gt_tui_page_destroy(page);
}

static int walk(struct gt_cli_reading *r, const void *user, struct gt_error *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "not a terminal; guesttrace graph and report print the same");
    struct gt_tui_screen s = {
        .reading = r, .message = keys, .tasks = r->window.part.tasks, .field = {true, true, true}};
    (void)user;
    s.pages = g_ptr_array_new_with_free_func(destroy_page);
    int status = gt_tui_page_graph(r, &s.graph, err);
    g_ptr_array_add(s.pages, s.graph);
    if (status == 0 && !s.graph->n_nodes)
        status = gt_cli_reading_nothing(r, err);
    void *terminal = status < 0 ? NULL : gt_cli_terminal_open(err);
    if (status == 0 && !terminal)
        status = GT_E_UNSUPPORTED;
    if (terminal) {
        do
            gt_tui_screen_draw(&s);
        while ((status = take_key(&s, getch(), err)) == 0);
        gt_cli_terminal_close(terminal);
    }
    g_ptr_array_free(s.pages, TRUE);
    return MIN(status, 0);
}

struct tui_options {
    struct gt_cli_reading_options reading;
};

static const struct gt_cli_option tui_table[] = {
    GT_WALL_OPTION(struct tui_options, reading.window),
    GT_READING_OPTIONS(struct tui_options, reading),
    {0},
};

static int run_tui(const struct gt_cli_command *self, const void *options, size_t n,
                   char **operands)
{
    const struct tui_options *o = options;
    setlocale(LC_CTYPE, "");
    return gt_cli_reading_run(self, &o->reading, n, operands, walk, NULL);
}

const struct gt_cli_command gt_cli_command_tui = {
    .name = "tui",
    .summary = "walk through a recording's calls and functions in the terminal",
    .usage = (const char *const[]){"[OPTION]... [RECORDING]", NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "Shows the calls as a tree, with total and self times and the number of calls; what a "
            "function calls most is first. Keys are as in uftrace tui: arrows, j and k move, "
            "open and close; Enter, e and c open and close, E and C with all that is below; u, n, "
            "p and l go to the parent, the next and previous line of it, the longest call. g shows "
            "what "
            "the function calls everywhere, b who calls it, r all functions below it; R shows all "
            "functions, which s sorts by total, self, calls and name, G all calls. / searches, N "
            "and P go on and back. S lists tasks: Enter shows one alone. I shows what info prints, "
            "O opens the function's source in $VISUAL or $EDITOR, f chooses the columns. "
            "Backspace or Escape goes back, h lists keys, q ends. The last line has the module and "
            "the source line of the chosen function.",
            NULL},
    .spec = {.table = tui_table},
    .options_size = sizeof(struct tui_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_tui,
};
