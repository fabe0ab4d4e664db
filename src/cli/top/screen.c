/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace top` in the terminal: see top.h. */
#include "cli/terminal_text.h"
#include "cli/top/top.h"

#include <curses.h>
#include <string.h>

enum {
    TEXT_BYTES = 60, /* of typed text */
    HEAD = 2,        /* lines above the rows */
    GONE = 100,      /* reads without a key before their time: the terminal is gone */
};

struct screen {
    struct gt_cli_top *top;
    int delay;   /* ms */
    gint64 next; /* when the next look is due */
    bool paused, helps;
    char asks; /* the key whose text is typed; 0: none */
    char text[TEXT_BYTES + 1];
    const char *message;
    guint first; /* row on the screen */
};

static const char *const help[] = {
    "q      end",
    "s < >  sort by another column",
    "t      tasks, functions",
    "/      only names that a glob matches",
    "T      only a task: a number, a glob",
    "space  pause, go on",
    "d      seconds between tables",
    "arrows, Page Up, Page Down, Home, End: move",
    "h ?    this list",
};

/* ---- drawing ------------------------------------------------------------------------------- */

/* The text typed for a key, with its question. */
static void put_question(const struct screen *s)
{
    g_autofree char *line = g_strdup_printf("%s%s_",
                                            s->asks == '/'   ? "/"
                                            : s->asks == 'T' ? "task: "
                                                             : "seconds: ",
                                            s->text);
    gt_cli_terminal_put(COLS - 1, line);
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
        gt_cli_terminal_put_name(COLS - 1, s->message ? s->message : title);
    gt_cli_top_put_heading(t, COLS, heading);
    if (t->follow->glob)
        g_string_append_printf(heading, " %s", t->follow->glob);
    g_string_append_printf(heading, " by %s%s", gt_cli_follow_sort_names[t->follow->sort],
                           s->paused ? ", paused" : "");
    attron(A_REVERSE);
    mvhline(1, 0, ' ', COLS);
    move(1, 0);
    gt_cli_terminal_put(COLS - 1, heading->str);
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

static void draw(struct screen *s)
{
    const struct gt_cli_top *t = s->top;
    s->first = MIN(s->first, t->follow->rows->len ? t->follow->rows->len - 1 : 0);
    erase();
    for (int line = HEAD; line < LINES; line++) {
        const guint i = (guint)(line - HEAD);
        if (s->helps && i < G_N_ELEMENTS(help)) {
            move(line, 0);
            gt_cli_terminal_put(COLS - 1, help[i]);
        } else if (!s->helps && s->first + i < t->follow->rows->len) {
            put_row(t, s->first + i, line);
        }
    }
    put_head(s);
    refresh();
}

/* ---- keys ---------------------------------------------------------------------------------- */

static void take_delay(struct screen *s)
{
    const int delay = gt_cli_top_delay(s->text);
    if (delay < 0) {
        s->message = "seconds are a number from 0.01 to 3600";
        return;
    }
    s->delay = delay;
    s->next = g_get_monotonic_time() + INT64_C(1000) * delay;
}

static void accept_text(struct screen *s)
{
    struct gt_cli_top *t = s->top;
    if (s->asks == 'd')
        take_delay(s);
    else if (s->asks == 'T')
        gt_cli_follow_set_task(t->follow, s->text);
    else {
        g_free(t->follow->glob);
        t->follow->glob = *s->text ? g_strdup(s->text) : NULL;
    }
    s->asks = 0;
}

static void take_text(struct screen *s, int key)
{
    const size_t n = strlen(s->text);
    if (key == '\n' || key == KEY_ENTER)
        accept_text(s);
    else if (key == 27)
        s->asks = 0;
    else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n)
        s->text[n - 1] = '\0';
    else if (key >= ' ' && key < 127 && n < TEXT_BYTES) {
        s->text[n] = (char)key;
        s->text[n + 1] = '\0';
    }
}

static void move_by(struct screen *s, int rows)
{
    const int64_t last = (int64_t)s->top->follow->rows->len - 1, to = (int64_t)s->first + rows;
    s->first = (guint)CLAMP(to, 0, MAX(last, 0));
}

static void sort_next(struct screen *s, int by)
{
    s->top->follow->sort = (enum gt_cli_follow_sort)(
        ((int)s->top->follow->sort + by + GT_FOLLOW_SORTS) % GT_FOLLOW_SORTS);
}

static void take_move(struct screen *s, int key)
{
    const int page = MAX(LINES - HEAD, 1);
    if (key == KEY_DOWN || key == 'j')
        move_by(s, 1);
    else if (key == KEY_UP || key == 'k')
        move_by(s, -1);
    else if (key == KEY_NPAGE)
        move_by(s, page);
    else if (key == KEY_PPAGE)
        move_by(s, -page);
    else if (key == KEY_HOME)
        s->first = 0;
    else if (key == KEY_END)
        move_by(s, INT32_MAX);
}

/* False: q. */
static bool take_key(struct screen *s, int key)
{
    if (s->asks) {
        take_text(s, key);
        return true;
    }
    const bool helped = s->helps;
    s->message = NULL;
    s->helps = helped && key == KEY_RESIZE;
    if (key == 's' || key == '>')
        sort_next(s, 1);
    else if (key == '<')
        sort_next(s, -1);
    else if (key == 't')
        s->top->follow->by_task = !s->top->follow->by_task;
    else if (key == ' ')
        s->paused = !s->paused;
    else if (key == '/' || key == 'd' || key == 'T') {
        s->asks = (char)key;
        *s->text = '\0';
    } else if (key == 'h' || key == '?')
        s->helps = !helped;
    else
        take_move(s, key);
    return key != 'q';
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
