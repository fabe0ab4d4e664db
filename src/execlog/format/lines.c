/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that are being made from events: see lines.h. */
#include "execlog/format/lines.h"

#include <stdlib.h>

void gt_execlog_lines_give(struct gt_execlog_text *t)
{
    if (t->line && t->status == 0 && t->o.lines(t->o.self, t->buf, t->line))
        t->status = 1;
    memmove(t->buf, t->buf + t->line, t->fill - t->line);
    t->fill -= t->line;
    t->line = 0;
}

bool gt_execlog_lines_grow(struct gt_execlog_text *t, size_t n)
{
    gt_execlog_lines_give(t);
    size_t room = t->room;
    while (room - t->fill < n && room < GT_EXECLOG_MOST_ROOM)
        room *= 2;
    if (room - t->fill < n) {
        t->status = GT_E_RANGE;
        return false;
    }
    char *buf = realloc(t->buf, room);
    if (!buf) {
        t->status = GT_E_NOMEM;
        return false;
    }
    t->buf = buf;
    t->room = room;
    return true;
}

static bool is_asked_for(const struct gt_execlog_text *t)
{
    const struct gt_execlog_query *q = &t->o.query;
    return t->number >= q->from && t->number <= q->to && (!q->by_insn || t->insn) &&
           (!q->by_access || t->access);
}

/* The waiting line is complete. */
void gt_execlog_lines_end(struct gt_execlog_text *t)
{
    char *p = gt_execlog_lines_room(t, 1);
    bool wanted = p && !t->skip && !t->broken && (!t->some || is_asked_for(t));
    if (wanted) {
        *p = '\n';
        t->line = ++t->fill;
    } else {
        t->fill = t->line;
    }
    t->insn = t->access = t->broken = false;
    if (t->skip)
        t->skip--;
    else
        t->number++;
    if (t->line >= GT_EXECLOG_GIVEN)
        gt_execlog_lines_give(t);
}

/* The complete line is the waiting one again. */
void gt_execlog_lines_repeat(struct gt_execlog_text *t)
{
    char *p = gt_execlog_lines_room(t, t->complete.n);
    if (!p)
        return;
    memcpy(p, t->complete.text, t->complete.n);
    t->fill += t->complete.n;
    t->insn = t->complete.insn;
    t->access = t->complete.access;
    t->complete.n = 0;
}

void gt_execlog_lines_keep(struct gt_execlog_text *t, const char *text, size_t n)
{
    char *more = n > t->complete_room ? realloc(t->complete.text, n) : t->complete.text;
    if (!more) {
        t->status = GT_E_NOMEM;
        return;
    }
    t->complete_room = n > t->complete_room ? n : t->complete_room;
    memcpy(more, text, n);
    t->complete = (struct gt_execlog_waiting){more, n, t->insn, t->access, true};
}

void gt_execlog_lines_take_up(struct gt_execlog_text *t, struct gt_execlog_waiting *w)
{
    t->complete.n = 0;
    if (w->n == 0) {
        free(w->text);
        w->text = NULL;
        return;
    }
    t->insn = w->insn;
    t->access = w->access;
    gt_execlog_lines_keep(t, w->text, w->n);
    if (!w->complete)
        gt_execlog_lines_repeat(t);
    t->insn &= !w->complete;
    t->access &= !w->complete;
    free(w->text);
    *w = (struct gt_execlog_waiting){0};
}

void gt_execlog_lines_put_aside(struct gt_execlog_text *t, struct gt_execlog_waiting *w)
{
    if (t->broken)
        *w = (struct gt_execlog_waiting){0};
    else if (t->fill > t->line)
        *w = (struct gt_execlog_waiting){NULL, t->fill - t->line, t->insn, t->access, false};
    else
        *w = t->complete;
    const char *text = t->fill > t->line ? t->buf + t->line : t->complete.text;
    w->text = w->n ? malloc(w->n) : NULL;
    if (w->text)
        memcpy(w->text, text, w->n);
    else if (w->n)
        t->status = GT_E_NOMEM;
    w->n = w->text ? w->n : 0;
    t->fill = t->line;
    t->insn = t->access = t->broken = false;
}
