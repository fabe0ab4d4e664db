/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace tui`: a recording's calls and functions, to walk through in the terminal. */
#include "cli/reading.h"
#include "cli/terminal_text.h"
#include "cli/tui/keys.h"
#include "cli/tui/screen.h"

#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char greeting[] = "? shows all keys, / searches, q ends";

/* ---- keys ---------------------------------------------------------------------------------- */

static int show_page(struct gt_tui_screen *s, struct gt_tui_page *page, int status)
{
    if (status < 0) {
        gt_tui_page_destroy(page);
        return status;
    }
    if (!page->whole)
        page->whole = s->graph->whole;
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

static void move_by(struct gt_tui_page *p, int lines)
{
    const int64_t to = (int64_t)p->at + lines, last = (int64_t)p->lines->len - 1;
    p->at = (guint)CLAMP(to, 0, MAX(last, 0));
}

/* ---- search -------------------------------------------------------------------------------- */

/* In the list of hits each line is one. */
static int find(struct gt_tui_screen *s, bool back, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_screen_page(s);
    if (p->hits) {
        const int status = back ? 0 : gt_tui_hits_more(s->reading, p, err);
        move_by(p, back ? -1 : 1);
        return status;
    }
    if (s->search.find && !gt_tui_page_find(p, &s->search, back))
        s->message = "there is no other function of that name";
    return 0;
}

static int take_typed(struct gt_tui_screen *s, int key, struct gt_error *err)
{
    const enum gt_cli_typed typed = gt_cli_key_type(s->typed, GT_TUI_TEXT, key);
    s->types = typed == GT_CLI_TYPING;
    if (typed != GT_CLI_TYPED || !*s->typed)
        return 0;
    gt_tui_search_set(&s->search, s->reading, s->typed);
    s->message = s->search.said;
    return gt_tui_screen_page(s)->hits ? 0 : find(s, false, err);
}

/* Without a search, the calls of the chosen function. */
static int list_hits(struct gt_tui_screen *s, struct gt_error *err)
{
    const struct gt_tui_page *p = gt_tui_screen_page(s);
    const struct gt_tui_line *line = gt_tui_page_line(p);
    struct gt_tui_page *page;
    if (!s->search.find && line && !p->texts)
        gt_tui_search_set(&s->search, s->reading, gt_cli_reading_name(s->reading, line->function));
    if (!s->search.find) {
        s->message = "/ searches first";
        return 0;
    }
    if (p->hits)
        g_ptr_array_set_size(s->pages, (gint)s->pages->len - 1);
    const int status = gt_tui_hits_make(s->reading, &s->search, &page, err);
    return show_page(s, page, status);
}

static int show_others(struct gt_tui_screen *s, struct gt_error *err)
{
    gt_tui_search_switch(&s->search);
    s->message = s->search.find ? s->search.said : "/ searches first";
    return s->search.find && gt_tui_screen_page(s)->hits ? list_hits(s, err) : 0;
}

/* ---- moves --------------------------------------------------------------------------------- */

/* As in uftrace's tui; false: another action. */
static bool take_tree(struct gt_tui_page *p, enum gt_tui_action action)
{
    switch (action) {
    case GT_TUI_CLOSE_ONE:
    case GT_TUI_OPEN_ONE:
        gt_tui_page_open(p, action == GT_TUI_OPEN_ONE);
        return true;
    case GT_TUI_CLOSE_ALL:
    case GT_TUI_OPEN_ALL:
        gt_tui_page_open_all(p, action == GT_TUI_OPEN_ALL);
        return true;
    case GT_TUI_NEXT:
    case GT_TUI_BEFORE:
        gt_tui_page_sibling(p, action == GT_TUI_NEXT);
        return true;
    case GT_TUI_PARENT:
        gt_tui_page_up(p);
        return true;
    case GT_TUI_LONGEST: /* it is the first */
        gt_tui_page_open(p, true);
        gt_tui_page_enter(p);
        return true;
    case GT_TUI_RIGHT:
        if (!gt_tui_page_open(p, true))
            gt_tui_page_enter(p);
        return true;
    case GT_TUI_LEFT:
        if (!gt_tui_page_open(p, false))
            gt_tui_page_up(p);
        return true;
    default:
        return false;
    }
}

/* False: another action. */
static bool take_move(struct gt_tui_page *p, enum gt_tui_action action)
{
    switch (action) {
    case GT_TUI_DOWN:
        move_by(p, 1);
        return true;
    case GT_TUI_UP:
        move_by(p, -1);
        return true;
    case GT_TUI_PAGE_DOWN:
        move_by(p, MAX(LINES - 3, 1));
        return true;
    case GT_TUI_PAGE_UP:
        move_by(p, -MAX(LINES - 3, 1));
        return true;
    case GT_TUI_HOME:
        p->at = 0;
        return true;
    case GT_TUI_END:
        move_by(p, INT32_MAX);
        return true;
    case GT_TUI_MIDDLE:
        p->top = p->at - MIN(p->at, gt_tui_screen_room() / 2);
        return true;
    default:
        return p->n_nodes && take_tree(p, action);
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
    if (p->kind == GT_TUI_FUNCTIONS || p->kind == GT_TUI_HITS)
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

static void show_keys(struct gt_tui_screen *s)
{
    if (gt_tui_screen_page(s)->kind != GT_TUI_KEYS)
        g_ptr_array_add(s->pages, gt_tui_page_keys(COLS));
}

static void go_back(struct gt_tui_screen *s)
{
    if (s->pages->len > 1)
        g_ptr_array_set_size(s->pages, (gint)s->pages->len - 1);
}

/* False: another action. */
static bool take_page(struct gt_tui_screen *s, enum gt_tui_action action, int *status,
                      struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_screen_page(s), *page;
    const struct gt_tui_line *line = gt_tui_page_line(p);
    switch (action) {
    case GT_TUI_CALLEES:
    case GT_TUI_CALLERS:
        *status = show_part(s, action == GT_TUI_CALLERS, err);
        return true;
    case GT_TUI_GRAPH:
        g_ptr_array_set_size(s->pages, 1);
        return true;
    case GT_TUI_REPORT:
        *status = gt_tui_page_report(s->reading, &page, err);
        *status = show_page(s, page, *status);
        return true;
    case GT_TUI_SHOW_INFO:
        *status = gt_tui_page_info(s->reading, &page, err);
        *status = show_page(s, page, *status);
        return true;
    case GT_TUI_BELOW:
        if (line && !p->texts)
            show_page(s, gt_tui_page_report_below(s->reading, s->graph, line->function), 0);
        return true;
    case GT_TUI_LIST_TASKS:
        *status = gt_tui_page_tasks(s->reading, s->tasks, s->chosen, &page, err);
        *status = show_page(s, page, *status);
        return true;
    case GT_TUI_CHOOSE_FIELDS:
        show_fields(s);
        return true;
    case GT_TUI_LIST_HITS:
        *status = list_hits(s, err);
        return true;
    case GT_TUI_HELP:
        show_keys(s);
        return true;
    case GT_TUI_BACK:
        go_back(s);
        return true;
    default:
        return false;
    }
}

static int take_action(struct gt_tui_screen *s, enum gt_tui_action action, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_screen_page(s);
    int status = 0;
    switch (action) {
    case GT_TUI_ENTER:
        return take_enter(s, err);
    case GT_TUI_SORT:
        if (p->hits)
            return gt_tui_hits_sort(s->reading, p, err);
        if (p->n_rows)
            gt_tui_page_sort(s->reading, p);
        return 0;
    case GT_TUI_EDITOR:
        open_editor(s);
        return 0;
    case GT_TUI_SEARCH:
        s->types = true;
        *s->typed = '\0';
        return 0;
    case GT_TUI_FIND_NEXT:
    case GT_TUI_FIND_BEFORE:
        return find(s, action == GT_TUI_FIND_BEFORE, err);
    case GT_TUI_OTHERS:
        return show_others(s, err);
    default:
        if (!take_page(s, action, &status, err) && take_move(p, action) && p->hits && status == 0)
            status = gt_tui_hits_more(s->reading, p, err);
        return status;
    }
}

/* 1: the end. Errors of pages. */
static int take_key(struct gt_tui_screen *s, int key, struct gt_error *err)
{
    const enum gt_tui_action action = (enum gt_tui_action)gt_cli_key_action(gt_tui_keys, key);
    if (key == ERR)
        return 1;
    if (key == KEY_RESIZE)
        return 0;
    s->message = NULL;
    if (s->types)
        return take_typed(s, key, err);
    return action == GT_TUI_QUIT ? 1 : take_action(s, action, err);
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
    struct gt_tui_screen s = {.reading = r,
                              .message = greeting,
                              .tasks = r->window.part.tasks,
                              .field = {true, true, true, true, true}};
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
    gt_tui_search_clear(&s.search);
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
            "Shows the calls as a tree, with total and self times, their percent of the time that "
            "ran, and the number of calls; what a function calls most is first. ? shows all keys, "
            "which are as in uftrace tui: arrows move, open and close; g shows what the function "
            "calls everywhere, b who calls it, R all functions, S the tasks with the time that "
            "each ran, q ends. The last line has the module and the source line of the chosen "
            "function.",
            "/ searches: for a part of a name, a glob of the whole name (*, ?), MODULE:NAME or "
            "/REGEX/. A function of exactly that name is preferred. N and P go on and back, H "
            "lists all calls that were found, with arguments and results where they were "
            "recorded; s sorts them by time, duration, task and name.",
            NULL},
    .spec = {.table = tui_table},
    .options_size = sizeof(struct tui_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_tui,
};
