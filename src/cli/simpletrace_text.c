/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace records as simpletrace.py prints them:
 *
 *     NAME DELTA pid=N arg=0xHEX str=b'...'
 *
 * Behind the pid stands a blank also where no argument follows: that is how QEMU's has it
 * since 8.2. What is constant of an event's line is put together when the event is first seen.
 */
#include "cli/simpletrace.h"
#include "cli/trace_put.h"

#include <glib.h>

struct piece {
    const char *text; /* " arg=0x" */
    size_t n;
};

struct plan {
    size_t name, constant; /* bytes of the name; of all but strings, at most */
    /* Of the vCPU, then of the arguments. */
    struct piece pieces[GT_TRACE_VALUES_MAX];
};

struct text {
    struct gt_line line;
    const struct gt_trace_declarations *declared;
    struct plan **plans; /* by the events' index */
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

static struct piece make_piece(struct text *t, const struct gt_trace_argument *a)
{
    g_autofree char *text =
        g_strdup_printf(" %s=%s", a->name, a->kind == GT_TRACE_STRING ? "" : "0x");
    return (struct piece){g_string_chunk_insert(t->texts, text), strlen(text)};
}

static struct plan *make_plan(struct text *t, const struct gt_trace_record *r)
{
    const struct gt_trace_declaration *d = r->event;
    struct plan *plan = g_new0(struct plan, 1);
    plan->pieces[0] = (struct piece){" __cpu=0x", strlen(" __cpu=0x")};
    plan->name = strlen(d->name);
    plan->constant = plan->name + plan->pieces[0].n + (4 + GT_TRACE_VALUES_MAX) * GT_PUT_NUMBER;
    for (unsigned i = 0; i < d->n_arguments; i++) {
        plan->pieces[i + 1] = make_piece(t, &d->arguments[i]);
        plan->constant += plan->pieces[i + 1].n;
    }
    t->plans[d->index] = plan;
    return plan;
}

static char *put_line(char *p, const struct plan *plan, const struct gt_trace_record *r,
                      uint64_t before)
{
    p = gt_put_bytes(p, r->event->name, plan->name);
    *p++ = ' ';
    p = gt_put_delta(p, before, r->timestamp);
    p = gt_put_bytes(p, " pid=", 5);
    p = gt_put_decimal(p, r->pid);
    if (r->n_values == 0)
        *p++ = ' ';
    const struct piece *piece = plan->pieces + 1 - (r->n_values - r->event->n_arguments);
    for (unsigned i = 0; i < r->n_values; i++, piece++) {
        const struct gt_trace_value *v = &r->values[i];
        p = gt_put_bytes(p, piece->text, piece->n);
        p = v->text ? gt_put_python_bytes(p, v->text, v->number) : gt_hex_put(p, v->number);
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
    size_t room = plan->constant;
    for (unsigned i = 0; i < r->n_values; i++)
        room += r->values[i].text ? 4 * r->values[i].number + 3 : 0;
    char *line = gt_line_begin(&t->line, room);
    gt_line_end(&t->line, line, put_line(line, plan, r, before));
}

static void end(void *self)
{
    struct text *t = self;
    for (size_t i = 0; i <= gt_trace_declarations_count(t->declared); i++)
        g_free(t->plans[i]);
    g_free(t->plans);
    g_string_chunk_free(t->texts);
    gt_line_free(&t->line);
    g_free(t);
}

const struct gt_simpletrace_form gt_simpletrace_text = {
    .begin = begin,
    .record = record,
    .end = end,
};
