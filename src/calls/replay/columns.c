/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns before a function: durations of ten characters, "  1.234 us" in us, ms, s, m or h,
 * blank for 0; task numbers "[   123]"; times in seconds; names to the right. */
#include "base/number.h"
#include "base/text.h"
#include "calls/replay/state.h"

#include <stdio.h>

enum {
    TASK_WIDTH = 15,
    MODULE_WIDTH = 16,
    TIME_WIDTH = 18,
    AT_WIDTH = 14,
    DURATION_WIDTH = 10,
    ADDR_WIDTH = 12
};

const char *const gt_replay_fields[GT_REPLAY_FIELDS + 1] = {
    "duration", "tid", "addr", "time", "delta", "elapsed", "at", "task", "module", NULL};

static const char *const headings[GT_REPLAY_FIELDS] = {
    " DURATION ", "   TID  ",       "   ADDRESS  ",    "     TIMESTAMP    ", " TIMEDELTA",
    "  ELAPSED ", "       AT     ", "      TASK NAME", "     MODULE NAME"};

static char *put_blanks(char *p, size_t n)
{
    memset(p, ' ', n);
    return p + n;
}

/* A number to the right of `width` characters. */
static char *put_right(char *p, uint64_t v, size_t width)
{
    char text[GT_DECIMAL_SIZE];
    size_t n = (size_t)(gt_text_decimal_put(text, v) - text);
    if (n < width)
        p = put_blanks(p, width - n);
    memcpy(p, text, n);
    return p + n;
}

static char *put_three(char *p, unsigned v)
{
    *p++ = (char)('0' + v / 100);
    memcpy(p, gt_text_decimal_pairs + (size_t)2 * (v % 100), 2);
    return p + 2;
}

static char *put_text(char *p, const char *text)
{
    size_t n = strlen(text);
    memcpy(p, text, n);
    return p + n;
}

static char *put_duration(const struct gt_replay *r, char *p, uint64_t ns)
{
    static const struct {
        char name[3];
        uint8_t color;
        uint16_t next; /* how many make one of the unit after it */
    } units[] = {{"us", GT_REPLAY_COLORS, 1000},
                 {"ms", GT_REPLAY_COLOR_MS, 1000},
                 {" s", GT_REPLAY_COLOR_S, 60},
                 {" m", GT_REPLAY_COLOR_MINUTES, 60},
                 {" h", GT_REPLAY_COLOR_MINUTES, UINT16_MAX}};
    if (!ns)
        return put_blanks(p, DURATION_WIDTH);
    uint64_t whole = ns / 1000, part = ns % 1000;
    size_t u = 0;
    for (; u + 1 < G_N_ELEMENTS(units) && whole >= units[u].next; u++) {
        part = whole % units[u].next;
        whole /= units[u].next;
    }
    p = put_right(p, whole, 3);
    *p++ = '.';
    p = put_three(p, (unsigned)part);
    *p++ = ' ';
    bool colored = units[u].color != GT_REPLAY_COLORS;
    if (colored)
        p = put_text(p, r->color[units[u].color]);
    memcpy(p, units[u].name, 2);
    p += 2;
    return colored ? put_text(p, r->color[GT_REPLAY_COLOR_END]) : p;
}

/* Seconds with nine decimals. */
static char *put_time(char *p, uint64_t ns, size_t width)
{
    unsigned part = (unsigned)(ns % 1000000000);
    p = put_right(p, ns / 1000000000, width - 10);
    *p++ = '.';
    p = put_three(p, part / 1000000);
    p = put_three(p, part / 1000 % 1000);
    return put_three(p, part % 1000);
}

/* The end of a text that is longer is cut. */
static char *put_name(char *p, const char *text, size_t width)
{
    char shown[GT_ESCAPE_GROWTH * MODULE_WIDTH];
    size_t n = strnlen(text, width);
    size_t length = (size_t)(gt_text_escape_put(shown, text, n) - shown);
    length = MIN(length, width);
    p = put_blanks(p, width - length);
    memcpy(p, shown, length);
    return p + length;
}

/* The name that the task has at that time. */
static const char *task_name(struct gt_replay *r, uint32_t index, uint64_t time)
{
    const struct gt_calls_task *t = gt_calls_task(r->calls, index);
    size_t *at = &r->task[index].name;
    while (*at < t->n_names && t->names[*at].time <= time)
        ++*at;
    return *at ? t->names[*at - 1].name : t->n_names ? t->names[0].name : t->name;
}

static const char *module_name(const struct gt_calls_function *f)
{
    const char *slash = strrchr(f->module, '/');
    return !*f->module ? "[unknown]" : slash ? slash + 1 : f->module;
}

static char *put_tid(struct gt_replay *r, char *p, uint32_t task)
{
    struct gt_replay_task *t = &r->task[task];
    if (!t->tid_length)
        t->tid_length =
            (uint8_t)snprintf(t->tid, sizeof t->tid, "[%6u]", gt_calls_task(r->calls, task)->id);
    memcpy(p, t->tid, sizeof t->tid);
    return p + t->tid_length;
}

static char *put_address(char *p, uint64_t address)
{
    char text[20];
    size_t n = (size_t)(gt_text_hex_put(text, address) - text);
    p = put_blanks(p, n < ADDR_WIDTH ? ADDR_WIDTH - n : 0);
    memcpy(p, text, n);
    return p + n;
}

static char *put_function_field(struct gt_replay *r, char *p, uint8_t field, uint32_t function)
{
    if (function == GT_REPLAY_NONE)
        return put_blanks(p, field == GT_REPLAY_ADDR ? ADDR_WIDTH : MODULE_WIDTH);
    const struct gt_calls_function *f = gt_calls_function(r->calls, function);
    return field == GT_REPLAY_ADDR ? put_address(p, f->address)
                                   : put_name(p, module_name(f), MODULE_WIDTH);
}

static char *put_task_field(struct gt_replay *r, char *p, uint8_t field,
                            const struct gt_replay_line *l)
{
    if (l->task == GT_REPLAY_NONE)
        return put_blanks(p, strlen(headings[field]));
    if (field == GT_REPLAY_TID)
        return put_tid(r, p, l->task);
    if (field == GT_REPLAY_TASK)
        return put_name(p, task_name(r, l->task, l->time), TASK_WIDTH);
    uint64_t last = r->task[l->task].last;
    return put_duration(r, p, last && l->time > last ? l->time - last : 0);
}

static char *put_field(struct gt_replay *r, char *p, uint8_t field, const struct gt_replay_line *l)
{
    const uint64_t since = l->time > r->first ? l->time - r->first : 0;
    switch (field) {
    case GT_REPLAY_DURATION:
        return put_duration(r, p, l->duration);
    case GT_REPLAY_TIME:
        return put_time(p, l->time, TIME_WIDTH);
    case GT_REPLAY_ELAPSED:
        return put_duration(r, p, since);
    case GT_REPLAY_AT:
        return put_time(p, since, AT_WIDTH);
    case GT_REPLAY_ADDR:
    case GT_REPLAY_MODULE:
        return put_function_field(r, p, field, l->function);
    default:
        return put_task_field(r, p, field, l);
    }
}

void gt_replay_put_heading(struct gt_replay *r)
{
    if (!r->o->n_fields)
        return;
    for (size_t i = 0; i < r->o->n_fields; i++) {
        gt_output_text(r->out, i ? " " : "#");
        gt_output_text(r->out, headings[r->o->field[i]]);
    }
    gt_output_text(r->out, "   FUNCTION\n");
}

void gt_replay_put_columns(struct gt_replay *r, const struct gt_replay_line *l)
{
    /* A column has less than 64 bytes, with colours of at most 8. */
    char *p = gt_output_room(r->out, GT_REPLAY_FIELDS * 64 + 8);
    for (size_t i = 0; i < r->o->n_fields; i++) {
        *p++ = ' ';
        p = put_field(r, p, r->o->field[i], l);
    }
    if (r->o->n_fields) {
        memcpy(p, " | ", 3);
        p += 3;
    }
    gt_output_end(r->out, p);
    if (l->task != GT_REPLAY_NONE)
        r->task[l->task].last = l->time;
}

void gt_replay_put_escaped(struct gt_replay *r, const char *text)
{
    enum { PIECE = GT_OUTPUT_SIZE / GT_ESCAPE_GROWTH };
    size_t n = strlen(text);
    while (n) {
        size_t piece = MIN(n, (size_t)PIECE);
        gt_output_end(r->out, gt_text_escape_put(gt_output_room(r->out, GT_ESCAPE_GROWTH * piece),
                                                 text, piece));
        text += piece;
        n -= piece;
    }
}

void gt_replay_put_event(struct gt_replay *r, uint32_t id)
{
    const char *name = gt_calls_event_name(r->calls, id);
    if (name) {
        gt_replay_put_escaped(r, name);
    } else {
        gt_output_text(r->out, "event ");
        gt_output_decimal(r->out, id);
    }
}
