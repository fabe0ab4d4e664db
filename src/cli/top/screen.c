/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace top` in the terminal: see top.h. */
#include "cli/terminal_text.h"
#include "cli/top/top.h"

#include <curses.h>
#include <string.h>

enum { TEXT_BYTES = 60, HEAD = 2 };

struct screen {
    struct gt_top *top;
    int delay;   /* ms */
    gint64 next; /* when the next look is due */
    bool paused;
    char asks; /* the key whose text is typed; 0: none */
    char text[TEXT_BYTES + 1];
    const char *message;
    guint first; /* row on the screen */
};

static const char keys[] = "q: quit  s < >: sort  t: tasks, functions  /: names by glob  "
                           "space: pause  d: seconds  arrows: move";

/* ---- drawing ------------------------------------------------------------------------------- */

static void put_head(const struct screen *s)
{
    g_autofree char *title = gt_top_title(s->top);
    g_autoptr(GString) heading = g_string_new(NULL);
    move(0, 0);
    if (s->asks)
        gt_terminal_put(COLS - 1, s->asks == '/' ? "/" : "seconds: ");
    if (s->asks)
        gt_terminal_put(COLS - 10, s->text);
    else if (s->message)
        gt_terminal_put(COLS - 1, s->message);
    else
        gt_terminal_put_name(COLS - 1, title);
    gt_top_put_heading(s->top, COLS, heading);
    if (s->top->glob)
        g_string_append_printf(heading, " %s", s->top->glob);
    g_string_append_printf(heading, " by %s%s", gt_top_sort_names[s->top->sort],
                           s->paused ? ", paused" : "");
    attron(A_REVERSE);
    mvhline(1, 0, ' ', COLS);
    move(1, 0);
    gt_terminal_put(COLS - 1, heading->str);
    attroff(A_REVERSE);
}

static void draw(struct screen *s)
{
    const struct gt_top *t = s->top;
    const guint last = t->rows->len ? t->rows->len - 1 : 0;
    s->first = MIN(s->first, last);
    erase();
    for (guint i = s->first; i < t->rows->len && HEAD + (int)(i - s->first) < LINES; i++) {
        const struct gt_top_row *row = &g_array_index(t->rows, struct gt_top_row, i);
        g_autofree char *name = gt_top_name(t, row);
        g_autoptr(GString) numbers = g_string_new(NULL);
        gt_top_put_numbers(t, row, COLS, numbers);
        move(HEAD + (int)(i - s->first), 0);
        gt_terminal_put(COLS - 1, numbers->str);
        gt_terminal_put_name(COLS - 1 - (int)numbers->len, name);
    }
    put_head(s);
    refresh();
}

/* ---- keys ---------------------------------------------------------------------------------- */

static void accept_text(struct screen *s)
{
    if (s->asks == '/') {
        g_free(s->top->glob);
        s->top->glob = *s->text ? g_strdup(s->text) : NULL;
    } else if (gt_top_delay(s->text) > 0) {
        s->delay = gt_top_delay(s->text);
        s->next = g_get_monotonic_time() + INT64_C(1000) * s->delay;
    } else {
        s->message = "seconds are a number from 0.01 to 3600";
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
    const int64_t last = (int64_t)s->top->rows->len - 1, to = (int64_t)s->first + rows;
    s->first = (guint)CLAMP(to, 0, MAX(last, 0));
}

static void sort_next(struct screen *s, int by)
{
    s->top->sort = (enum gt_top_sort)(((int)s->top->sort + by + GT_TOP_SORTS) % GT_TOP_SORTS);
}

/* False: q. */
static bool take_key(struct screen *s, int key)
{
    if (s->asks) {
        take_text(s, key);
        return true;
    }
    s->message = NULL;
    if (key == 's' || key == '>')
        sort_next(s, 1);
    else if (key == '<')
        sort_next(s, -1);
    else if (key == 't')
        s->top->by_task = !s->top->by_task;
    else if (key == ' ')
        s->paused = !s->paused;
    else if (key == '/' || key == 'd') {
        s->asks = (char)key;
        *s->text = '\0';
    } else if (key == 'h' || key == '?')
        s->message = keys;
    else if (key == KEY_DOWN || key == KEY_UP)
        move_by(s, key == KEY_DOWN ? 1 : -1);
    else if (key == KEY_NPAGE || key == KEY_PPAGE)
        move_by(s, key == KEY_NPAGE ? LINES - HEAD : HEAD - LINES);
    else if (key == KEY_HOME)
        s->first = 0;
    return key != 'q';
}

/* ---- all ----------------------------------------------------------------------------------- */

static int look(struct screen *s, struct gt_error *err)
{
    int status = gt_top_look(s->top, err);
    s->next = g_get_monotonic_time() + INT64_C(1000) * s->delay;
    return status;
}

/* Waits for a key as long as no look is due; ERR: none. */
static int wait_key(const struct screen *s)
{
    const gint64 left = (s->next - g_get_monotonic_time()) / 1000;
    timeout(s->paused || s->top->state == GT_TOP_ENDED ? -1 : (int)CLAMP(left, 0, 3600000));
    return getch();
}

static int show(struct screen *s, uint64_t count, struct gt_error *err)
{
    int status = look(s, err);
    for (uint64_t n = 1; status == 0;) {
        gt_top_list(s->top);
        draw(s);
        const int key = wait_key(s);
        const bool is_due = !s->paused && g_get_monotonic_time() >= s->next;
        if (key != ERR && !take_key(s, key))
            break;
        if (key == ERR && !is_due) /* the terminal is gone */
            break;
        if (is_due && count && n++ >= count)
            break;
        if (is_due)
            status = look(s, err);
    }
    return status;
}

int gt_top_screen(struct gt_top *t, const struct gt_top_pace *pace, struct gt_error *err)
{
    struct screen s = {.top = t, .delay = pace->delay};
    void *terminal = gt_terminal_open(err);
    if (!terminal)
        return GT_E_UNSUPPORTED;
    int status = show(&s, pace->count, err);
    gt_terminal_close(terminal);
    return status;
}
