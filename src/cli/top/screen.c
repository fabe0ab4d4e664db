/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace top` in the terminal: see top.h. */
#include "cli/keys.h"
#include "cli/terminal_text.h"
#include "cli/top/top.h"

#include <curses.h>
#include <string.h>

enum {
    TEXT_BYTES = 60, /* of typed text */
    HEAD = 2,        /* lines above the rows */
    GONE = 100,      /* reads without a key before their time: the terminal is gone */
};

enum action {
    NONE,
    DOWN,
    UP,
    PAGE_DOWN,
    PAGE_UP,
    TO_FIRST,
    TO_LAST,
    SORT_NEXT,
    SORT_BEFORE,
    SWITCH_TASKS,
    SEEK,
    SWITCH_OTHERS,
    CHOOSE_TASK,
    CHOOSE_DELAY,
    PAUSE,
    IN_TEXTS, /* of a text that is typed: gt_cli_key_type */
    HELP,
    QUIT,
};

static const struct gt_cli_key keys[] = {
    {{0}, 0, "MOVE"},
    {{KEY_DOWN, 'j'}, DOWN, "to the next row"},
    {{KEY_UP, 'k'}, UP, "to the row before"},
    {{KEY_NPAGE}, PAGE_DOWN, "a screen on"},
    {{KEY_PPAGE}, PAGE_UP, "a screen back"},
    {{KEY_HOME}, TO_FIRST, "to the first row"},
    {{KEY_END}, TO_LAST, "to the last row"},
    {{0}, 0, "TABLE"},
    {{'s', '>'}, SORT_NEXT, "sort by another column"},
    {{'<'}, SORT_BEFORE, "sort by the one before"},
    {{'t'}, SWITCH_TASKS, "tasks or functions"},
    {{'T'}, CHOOSE_TASK, "one task: number, glob"},
    {{' '}, PAUSE, "pause, go on"},
    {{'d'}, CHOOSE_DELAY, "seconds between tables"},
    {{0}, 0, "SEARCH"},
    {{'/'}, SEEK, "part of a name, glob,"},
    {{0}, 0, "                 MODULE:NAME, /REGEX/"},
    {{'a'}, SWITCH_OTHERS, "the exact name or all"},
    {{0}, 0, "TEXT THAT IS TYPED"},
    {{KEY_ENTER, '\n'}, IN_TEXTS, "take it"},
    {{27}, IN_TEXTS, "leave it"},
    {{KEY_BACKSPACE, 127, 8}, IN_TEXTS, "remove a character"},
    {{0}, 0, "ALL"},
    {{'?', 'h'}, HELP, "these keys"},
    {{'q'}, QUIT, "end"},
    {{0}, 0, NULL},
};

struct screen {
    struct gt_cli_top *top;
    int delay;   /* ms */
    gint64 next; /* when the next look is due */
    bool paused, helps;
    enum action asks; /* whose text is typed; NONE: none */
    char text[TEXT_BYTES + 1];
    char said[200]; /* "": nothing */
    guint first;    /* row on the screen, or line of the help */
    guint lines;    /* of the help */
};

/* ---- drawing ------------------------------------------------------------------------------- */

/* The text typed for a key, with its question. */
static void put_question(const struct screen *s)
{
    g_autofree char *line = g_strdup_printf("%s%s_",
                                            s->asks == SEEK          ? "/"
                                            : s->asks == CHOOSE_TASK ? "task: "
                                                                     : "seconds: ",
                                            s->text);
    gt_cli_terminal_put(COLS - 1, line);
}

/* What restricts the rows, and how many functions or tasks were found. */
static void put_search(const struct screen *s, GString *heading)
{
    const struct gt_cli_top *t = s->top;
    if (t->follow->glob)
        g_string_append_printf(heading, " %s", t->follow->glob);
    if (t->follow->find && t->follow->exact && !t->follow->others)
        g_string_append_printf(heading, " %s: %zu of %zu", t->follow->sought, t->follow->exact,
                               t->follow->found);
    else if (t->follow->find)
        g_string_append_printf(heading, " %s: %zu", t->follow->sought, t->follow->found);
}

static void put_head(const struct screen *s)
{
    const struct gt_cli_top *t = s->top;
    g_autofree char *title = gt_cli_top_title(t);
    g_autoptr(GString) heading = g_string_new(NULL);
    move(0, 0);
    if (s->asks)
        put_question(s);
    else
        gt_cli_terminal_put_name(COLS - 1, *s->said ? s->said : title);
    gt_cli_top_put_heading(t, COLS, heading);
    put_search(s, heading);
    g_string_append_printf(heading, " by %s%s", gt_cli_follow_sort_names[t->follow->sort],
                           s->paused ? ", paused" : "");
    attron(A_REVERSE);
    mvhline(1, 0, ' ', COLS);
    move(1, 0);
    gt_cli_terminal_put_name(COLS - 1, heading->str);
    attroff(A_REVERSE);
}

static void put_row(const struct gt_cli_top *t, guint row, int line)
{
    const struct gt_cli_follow_row *r =
        &g_array_index(t->follow->rows, struct gt_cli_follow_row, row);
    g_autofree char *name = gt_cli_top_name(t, r);
    g_autoptr(GString) numbers = g_string_new(NULL);
    gt_cli_top_put_numbers(t, r, COLS, numbers);
    move(line, 0);
    gt_cli_terminal_put(COLS - 1, numbers->str);
    gt_cli_terminal_put_name(COLS - 1 - (int)numbers->len, name);
}

/* As many as there is room for; the last line says whether there are more. */
static void put_help(struct screen *s)
{
    g_autoptr(GPtrArray) help = gt_cli_key_help(keys, COLS - 1);
    const guint room = (guint)MAX(LINES - HEAD, 1), rows = help->len > room ? room - 1 : room;
    s->lines = help->len;
    s->first = MIN(s->first, help->len - MIN(rows, help->len));
    for (guint i = 0; i < rows && s->first + i < help->len; i++) {
        move(HEAD + (int)i, 0);
        gt_cli_terminal_put(COLS - 1, help->pdata[s->first + i]);
    }
    if (rows == room)
        return;
    g_autofree char *more = g_strdup_printf("%u to %u of %u; Down: the next ones", s->first + 1,
                                            MIN(s->first + rows, help->len), help->len);
    move(LINES - 1, 0);
    gt_cli_terminal_put(COLS - 1, more);
}

static void draw(struct screen *s)
{
    const struct gt_cli_top *t = s->top;
    const guint n = s->helps ? s->lines : t->follow->rows->len;
    s->first = MIN(s->first, n ? n - 1 : 0);
    erase();
    if (s->helps)
        put_help(s);
    for (int line = HEAD; line < LINES && !s->helps; line++)
        if (s->first + (guint)(line - HEAD) < t->follow->rows->len)
            put_row(t, s->first + (guint)(line - HEAD), line);
    put_head(s);
    refresh();
}

/* ---- keys ---------------------------------------------------------------------------------- */

static void take_delay(struct screen *s)
{
    const int delay = gt_cli_top_delay(s->text);
    if (delay < 0) {
        g_strlcpy(s->said, "seconds are a number from 0.01 to 3600", sizeof s->said);
        return;
    }
    s->delay = delay;
    s->next = g_get_monotonic_time() + INT64_C(1000) * delay;
}

static void accept_text(struct screen *s)
{
    struct gt_error err = {0};
    if (s->asks == CHOOSE_DELAY)
        take_delay(s);
    else if (s->asks == CHOOSE_TASK)
        gt_cli_follow_set_task(s->top->follow, s->text);
    else if (gt_cli_follow_seek(s->top->follow, s->text, &err) < 0)
        g_strlcpy(s->said, err.text, sizeof s->said);
}

static void take_text(struct screen *s, int key)
{
    const enum gt_cli_typed typed = gt_cli_key_type(s->text, TEXT_BYTES, key);
    if (typed == GT_CLI_TYPED)
        accept_text(s);
    if (typed != GT_CLI_TYPING)
        s->asks = NONE;
}

static void move_by(struct screen *s, int rows)
{
    const guint n = s->helps ? s->lines : s->top->follow->rows->len;
    const int64_t last = (int64_t)n - 1, to = (int64_t)s->first + rows;
    s->first = (guint)CLAMP(to, 0, MAX(last, 0));
}

static void sort_next(struct screen *s, int by)
{
    s->top->follow->sort = (enum gt_cli_follow_sort)(
        ((int)s->top->follow->sort + by + GT_FOLLOW_SORTS) % GT_FOLLOW_SORTS);
}

/* False: another action. */
static bool take_move(struct screen *s, enum action action)
{
    const int page = MAX(LINES - HEAD - s->helps, 1);
    switch (action) {
    case DOWN:
    case UP:
        move_by(s, action == DOWN ? 1 : -1);
        return true;
    case PAGE_DOWN:
    case PAGE_UP:
        move_by(s, action == PAGE_DOWN ? page : -page);
        return true;
    case TO_FIRST:
    case TO_LAST:
        move_by(s, action == TO_FIRST ? INT32_MIN : INT32_MAX);
        return true;
    default:
        return false;
    }
}

static void show_help(struct screen *s, bool helps)
{
    if (s->helps != helps)
        s->first = 0;
    s->helps = helps;
}

static void take_action(struct screen *s, enum action action)
{
    switch (action) {
    case SORT_NEXT:
    case SORT_BEFORE:
        sort_next(s, action == SORT_NEXT ? 1 : -1);
        return;
    case SWITCH_TASKS:
        s->top->follow->by_task = !s->top->follow->by_task;
        return;
    case PAUSE:
        s->paused = !s->paused;
        return;
    case SWITCH_OTHERS:
        s->top->follow->others = !s->top->follow->others;
        return;
    case SEEK:
    case CHOOSE_DELAY:
    case CHOOSE_TASK:
        s->asks = action;
        *s->text = '\0';
        return;
    default:
        return;
    }
}

/* False: q. Keys that move do so in the help, too; others end it. */
static bool take_key(struct screen *s, int key)
{
    const enum action action = (enum action)gt_cli_key_action(keys, key);
    if (key == KEY_RESIZE)
        return true;
    if (s->asks) {
        take_text(s, key);
        return true;
    }
    *s->said = '\0';
    if (take_move(s, action))
        return true;
    show_help(s, action == HELP && !s->helps);
    take_action(s, action);
    return action != QUIT;
}

/* ---- all ----------------------------------------------------------------------------------- */

static int look(struct screen *s, struct gt_error *err)
{
    int status = gt_cli_follow_look(s->top->follow, err);
    s->next = g_get_monotonic_time() + INT64_C(1000) * s->delay;
    return status;
}

static bool looks(const struct screen *s)
{
    return !s->paused && s->top->follow->state != GT_FOLLOW_ENDED;
}

static bool is_due(const struct screen *s)
{
    return looks(s) && g_get_monotonic_time() >= s->next;
}

/* The next key; ERR: a look is due, or the terminal is gone. */
static int wait_key(const struct screen *s)
{
    int key = ERR;
    for (int i = 0; i < GONE && key == ERR && !is_due(s); i++) {
        const gint64 left = (s->next - g_get_monotonic_time()) / 1000 + 1;
        timeout(looks(s) ? (int)CLAMP(left, 1, 3600000) : -1);
        key = getch();
    }
    return key;
}

static int show(struct screen *s, uint64_t count, struct gt_error *err)
{
    int status = look(s, err);
    for (uint64_t n = 1; status == 0;) {
        gt_cli_follow_list(s->top->follow);
        draw(s);
        const int key = wait_key(s);
        if (key != ERR ? !take_key(s, key) : !is_due(s))
            break;
        if (!is_due(s))
            continue;
        if (count && n++ >= count)
            break;
        status = look(s, err);
    }
    return status;
}

int gt_cli_top_screen(struct gt_cli_top *t, const struct gt_cli_top_pace *pace,
                      struct gt_error *err)
{
    struct screen s = {.top = t, .delay = pace->delay};
    void *terminal = gt_cli_terminal_open(err);
    if (!terminal)
        return GT_E_UNSUPPORTED;
    int status = show(&s, pace->count, err);
    gt_cli_terminal_close(terminal);
    return status;
}
