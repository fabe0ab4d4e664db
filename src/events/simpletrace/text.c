/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace records as simpletrace.py prints them:
 *
 *     NAME DELTA pid=N arg=0xHEX str=b'...'
 *
 * A blank follows the pid even if there are no arguments, as in QEMU since 8.2. The constant parts
 * of an event's line are formatted when the event is first seen.
 */
#include "base/number.h"

#include "base/output.h"
#include "base/text.h"
#include "events/simpletrace/simpletrace.h"

#include <glib.h>
#include <stdio.h>

/*
 * Formats values of trace records in memory that the caller provides; each function returns the end
 * of the text. A number needs 32 bytes of room, a string the bytes given at its function.
 */

enum { GT_PUT_NUMBER = 32 };

/* Room for a line of any length: in the output's buffer, or in a buffer of its own. */
struct gt_simpletrace_put_line {
    struct gt_output *out;
    GString *big; /* made for the first line that needs it */
};

static inline char *gt_put_bytes(char *p, const void *data, size_t n)
{
    memcpy(p, data, n);
    return p + n;
}

/* ns / 1000 as the nearest double, as Python divides: not through the nearest double of ns. */
static double nearest_us(uint64_t ns)
{
    uint64_t divisor = 1000, one = 1;
    while (ns / divisor >> 53)
        divisor *= 2;
    while (ns && ns / 1000 * one < UINT64_C(1) << 52 && divisor == 1000)
        one *= 2;
    uint64_t q = ns * one / divisor, rest = ns * one % divisor;
    if (2 * rest > divisor || (2 * rest == divisor && q % 2))
        q++;
    return (double)q * (double)(divisor / 1000) / (double)one;
}

/* Formats now - before as microseconds with three decimals, rounded like Python's quotient. */
static char *put_delta(char *p, uint64_t before, uint64_t now)
{
    bool back = now < before;
    uint64_t ns = back ? before - now : now - before;
    if (back)
        *p++ = '-';
    /* Up to here a double has more than three decimals, so that its digits are nanoseconds. */
    if (ns < UINT64_C(1) << 51)
        return gt_text_decimal_put_thousandths(p, ns);
    return p + snprintf(p, GT_PUT_NUMBER - 1, "%.3f", nearest_us(ns));
}

static char *put_python_escape(char *p, unsigned char c, char quote)
{
    static const char digits[] = "0123456789abcdef";
    char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\0';
    if (c >= ' ' && c < 0x7f) {
        if (c == '\\' || c == (unsigned char)quote)
            *p++ = '\\';
        *p++ = (char)c;
        return p;
    }
    *p++ = '\\';
    *p++ = letter ? letter : 'x';
    if (!letter) {
        *p++ = digits[c >> 4];
        *p++ = digits[c & 15];
    }
    return p;
}

/* Formats bytes like Python: b'...', or b"..." if that saves escapes. 4 * n + 3 bytes. */
static char *put_python_bytes(char *p, const char *text, size_t n)
{
    char *start = p;
    *p++ = 'b';
    *p++ = '\'';
    size_t i = gt_text_plain_copy(p, text, n);
    p += i;
    if (i < n) {
        char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
        start[1] = quote;
        for (; i < n; i++)
            p = put_python_escape(p, (unsigned char)text[i], quote);
    }
    *p++ = start[1];
    return p;
}

static char *put_line_begin(struct gt_simpletrace_put_line *l, size_t room)
{
    if (room <= GT_OUTPUT_SIZE)
        return gt_output_room(l->out, room);
    if (!l->big)
        l->big = g_string_new(NULL);
    g_string_set_size(l->big, room);
    return l->big->str;
}

/* `begin` is the result of put_line_begin, `end` the end of the text. */
static void put_line_end(struct gt_simpletrace_put_line *l, const char *begin, const char *end)
{
    if (l->big && begin == l->big->str)
        gt_output_bytes(l->out, begin, (size_t)(end - begin));
    else
        gt_output_end(l->out, end);
}

static void put_line_free(struct gt_simpletrace_put_line *l)
{
    if (l->big)
        g_string_free(l->big, TRUE);
}

enum { BLOCK = 16 }; /* bytes that are copied at once: what short texts cost is the length */

/* " arg=0x"; to the end of its last block there are NULs. */
struct piece {
    const char *text;
    size_t n;
};

struct plan {
    size_t constant; /* bytes of all but strings, at most */
    struct piece name;
    /* Of the vCPU, then of the arguments. */
    struct piece pieces[GT_TRACE_VALUES_MAX];
};

struct text {
    struct gt_simpletrace_put_line line;
    const struct gt_trace_declarations *declared;
    struct plan **plans;   /* by the events' index */
    uint32_t pid;          /* of the record before, */
    struct piece pid_text; /* shown; n 0: there was none */
    char pid_room[2 * BLOCK];
    GStringChunk *texts;
};

static void *begin(struct gt_output *out, const struct gt_trace_declarations *d)
{
    struct text *t = g_new0(struct text, 1);
    t->line.out = out;
    t->declared = d;
    t->plans = g_new0(struct plan *, gt_trace_declarations_count(d) + 1);
    t->texts = g_string_chunk_new(4096);
    return t;
}

static struct piece keep(struct text *t, const char *text)
{
    size_t n = strlen(text);
    g_autofree char *whole = g_malloc0(n + BLOCK);
    memcpy(whole, text, n);
    return (struct piece){g_string_chunk_insert_len(t->texts, whole, (gssize)(n + BLOCK)), n};
}

static struct plan *make_plan(struct text *t, const struct gt_trace_record *r)
{
    const struct gt_trace_declaration *d = r->event;
    struct plan *plan = g_new0(struct plan, 1);
    plan->name = keep(t, d->name);
    plan->pieces[0] = keep(t, " __cpu=0x");
    plan->constant =
        plan->name.n + plan->pieces[0].n + (4 + GT_TRACE_VALUES_MAX) * (BLOCK + GT_PUT_NUMBER);
    for (unsigned i = 0; i < d->n_arguments; i++) {
        const struct gt_trace_argument *a = &d->arguments[i];
        g_autofree char *text =
            g_strdup_printf(" %s=%s", a->name, a->kind == GT_TRACE_STRING ? "" : "0x");
        plan->pieces[i + 1] = keep(t, text);
        plan->constant += plan->pieces[i + 1].n;
    }
    t->plans[d->index] = plan;
    return plan;
}

static inline char *put_piece(char *p, struct piece piece)
{
    for (size_t i = 0; i < piece.n; i += BLOCK)
        memcpy(p + i, piece.text + i, BLOCK);
    return p + piece.n;
}

static void set_pid(struct text *t, uint32_t pid)
{
    char *end = gt_text_decimal_put(gt_put_bytes(t->pid_room, " pid=", 5), pid);
    t->pid = pid;
    t->pid_text = (struct piece){t->pid_room, (size_t)(end - t->pid_room)};
}

static char *put_line(char *p, const struct plan *plan, struct piece pid,
                      const struct gt_trace_record *r, uint64_t before)
{
    p = put_piece(p, plan->name);
    *p++ = ' ';
    p = put_delta(p, before, r->timestamp);
    p = put_piece(p, pid);
    if (r->n_values == 0)
        *p++ = ' ';
    const struct piece *piece = plan->pieces + 1 - (r->n_values - r->event->n_arguments);
    for (unsigned i = 0; i < r->n_values; i++, piece++) {
        const struct gt_trace_value *v = &r->values[i];
        p = put_piece(p, *piece);
        p = v->text ? put_python_bytes(p, v->text, v->number) : gt_text_hex_put(p, v->number);
    }
    *p++ = '\n';
    return p;
}

static void record(void *self, const struct gt_trace_record *r, uint64_t before)
{
    struct text *t = self;
    struct plan *plan = t->plans[r->event->index];
    if (!plan)
        plan = make_plan(t, r);
    if (!t->pid_text.n || t->pid != r->pid)
        set_pid(t, r->pid);
    size_t room = plan->constant;
    for (unsigned i = 0; i < r->n_values; i++)
        room += r->values[i].text ? 4 * r->values[i].number + 3 : 0;
    char *line = put_line_begin(&t->line, room);
    put_line_end(&t->line, line, put_line(line, plan, t->pid_text, r, before));
}

static void end(void *self)
{
    struct text *t = self;
    for (size_t i = 0; i <= gt_trace_declarations_count(t->declared); i++)
        g_free(t->plans[i]);
    g_free(t->plans);
    g_string_chunk_free(t->texts);
    put_line_free(&t->line);
    g_free(t);
}

const struct gt_simpletrace_form gt_simpletrace_text = {
    .begin = begin,
    .record = record,
    .end = end,
};
