/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink that writes text:
 *
 *   VCPU, 0xADDRESS, 0xOPCODE, "DISASSEMBLY"[, load|store, 0xADDRESS[, PLACE]]...[, NAME ->
 * 0xVALUE]...
 *
 * A block has the text of all its lines, each with the newline of the line before it: so lines that
 * ran one after the other are copied in one piece, and the newest may get more. The text is that of
 * vCPU 0; of another one each line is copied for itself. A buffer that is handed over ends with a
 * newline, and the newest line stays.
 */
#include "base/number.h"
#include "execlog/plugin/recorder.h"
#include "qemu/support/messages.h"
#include "qemu/support/trace-plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOME_PREFIX = 3,  /* "0, " */
    ACCESS_ROOM = 64, /* without the region */
    SHOWN = 100,      /* bytes of a line that is cut */
};

struct text_block {
    size_t n;
    uint32_t *at; /* where each line begins, and the end */
    char *text;
};

struct text {
    struct gt_packet_buffer *buffer; /* its data: whole lines, then the newest */
    uint8_t *at, *end, *line;        /* line: where the newest begins */
    bool cut;                        /* the newest line is */
    bool complete;                   /* the newest line is, and `again` has it */
    GString *again;                  /* the line that the end logs once more, without its newline */
    size_t prefix_size;
    char prefix[8];
};

static struct gt_packet_buffer *new_buffer(const struct gt_exlog *e)
{
    if (e->packet_sink)
        return gt_packet_sink_acquire(e->packet_sink);
    struct gt_packet_buffer *b = malloc(sizeof *b + GT_EXLOG_BUFFER + 1);
    if (b)
        *b = (struct gt_packet_buffer){.data = (uint8_t *)(b + 1), .size = GT_EXLOG_BUFFER};
    return b;
}

static void take_buffer(struct text *t, struct gt_packet_buffer *b)
{
    t->buffer = b;
    t->at = t->line = b->data;
    t->end = b->data + b->size;
}

static bool begin(struct gt_exlog_vcpu *v)
{
    struct text *t = calloc(1, sizeof *t);
    struct gt_packet_buffer *b = t ? new_buffer(v->recorder) : NULL;
    if (!b) {
        free(t);
        return false;
    }
    take_buffer(t, b);
    t->prefix_size = (size_t)snprintf(t->prefix, sizeof t->prefix, "%u, ", v->index);
    v->sink = t;
    return true;
}

static void *describe(struct gt_exlog *e, const struct gt_exlog_block *b)
{
    (void)e;
    struct text_block *x = malloc(sizeof *x + (b->n + 1) * sizeof *x->at);
    g_autoptr(GString) text = g_string_new(NULL);
    if (!x)
        return NULL;
    x->n = b->n;
    x->at = (uint32_t *)(x + 1);
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_exlog_line *line = &b->lines[i];
        x->at[i] = (uint32_t)text->len;
        g_string_append_printf(text, "\n0, 0x%" PRIx64 ", 0x%" PRIx32 ", \"%s\"", line->pc,
                               line->opcode, line->disassembly);
    }
    x->at[b->n] = (uint32_t)text->len;
    x->text = g_string_free(g_steal_pointer(&text), FALSE);
    return x;
}

static void forget(struct gt_exlog *e, void *described)
{
    (void)e;
    struct text_block *x = described;
    g_free(x->text);
    free(x);
}

static void log_whole_lines(struct text *t)
{
    uint8_t first = *t->line;
    *t->line = '\0';
    gt_host_log((const char *)t->buffer->data);
    *t->line = first;
}

/* Hands over whole lines; the newest becomes the first of the buffer. */
static void hand_over(struct gt_exlog_vcpu *v)
{
    struct gt_packet_sink *sink = v->recorder->packet_sink;
    struct text *t = v->sink;
    size_t whole = (size_t)(t->line - t->buffer->data), unfinished = (size_t)(t->at - t->line);
    if (whole == 0)
        return;
    if (!sink) {
        log_whole_lines(t);
        memmove(t->buffer->data, t->line, unfinished);
        take_buffer(t, t->buffer);
    } else {
        uint8_t *newest = g_memdup2(t->line, unfinished);
        t->buffer->used = whole;
        trace_execlog_lines(whole);
        take_buffer(t, gt_packet_sink_exchange(sink, t->buffer));
        if (unfinished)
            memcpy(t->buffer->data, newest, unfinished);
        g_free(newest);
        gt_support_sink_message_report(sink);
    }
    t->at += unfinished;
}

/* The newest line is as long as the buffer: it gets no more. */
static void cut_line(struct gt_exlog_vcpu *v)
{
    struct text *t = v->sink;
    t->end = t->at;
    if (t->cut)
        return;
    t->cut = true;
    if (__atomic_add_fetch(&v->recorder->cut_lines, 1, __ATOMIC_RELAXED) == 1)
        gt_host_message("a line of more than %d KiB is cut: %.*s...", GT_EXLOG_BUFFER >> 10, SHOWN,
                        (const char *)t->line);
}

/* Room for n bytes more of the newest line. False: it is cut. */
static bool make_room(struct gt_exlog_vcpu *v, size_t n)
{
    struct text *t = v->sink;
    if ((size_t)(t->end - t->at) < n)
        hand_over(v);
    if ((size_t)(t->end - t->at) >= n)
        return true;
    cut_line(v);
    return false;
}

/* The same for the newline that ends it, which a line that was cut has, too. */
static void end_line(struct gt_exlog_vcpu *v)
{
    struct text *t = v->sink;
    if (t->end == t->at)
        hand_over(v);
    if (t->end == t->at) {
        cut_line(v);
        t->at--;
    }
    t->cut = false;
    *t->at++ = '\n';
    t->line = t->at;
}

static void put(struct text *t, const void *bytes, size_t n)
{
    memcpy(t->at, bytes, n);
    t->at += n;
}

/* Line by line: with the vCPU's own number, or where the buffer's end is near. */
static void put_lines(struct gt_exlog_vcpu *v, const struct text_block *x, size_t from, size_t to)
{
    struct text *t = v->sink;
    for (size_t i = from; i < to; i++) {
        const char *text = x->text + x->at[i] + 1 + HOME_PREFIX;
        size_t n = x->at[i + 1] - x->at[i] - 1 - HOME_PREFIX;
        if (t->at > t->buffer->data)
            end_line(v);
        if (!make_room(v, t->prefix_size + n))
            continue;
        put(t, t->prefix, t->prefix_size);
        put(t, text, n);
    }
}

static void lines(struct gt_exlog_vcpu *v, const struct gt_exlog_block *b, size_t from, size_t to)
{
    struct text *t = v->sink;
    const struct text_block *x = b->described;
    uint32_t start = x->at[from], n = x->at[to] - start;
    t->complete = false;
    if (__builtin_expect(v->index != 0 || (size_t)(t->end - t->at) < n || t->at == t->line, 0)) {
        put_lines(v, x, from, to);
        return;
    }
    t->line = t->at + (x->at[to - 1] - start) + 1;
    put(t, x->text + start, n);
}

static void put_access(struct gt_exlog_vcpu *v, const struct gt_exlog_access *a)
{
    struct text *t = v->sink;
    size_t n = a->region ? strlen(a->region) : 0;
    if ((size_t)(t->end - t->at) < ACCESS_ROOM + n && !make_room(v, ACCESS_ROOM + n))
        return;
    uint8_t *at = t->at;
    if (a->store) {
        memcpy(at, ", store, 0x", 11);
        at += 11;
    } else {
        memcpy(at, ", load, 0x", 10);
        at += 10;
    }
    t->at = (uint8_t *)gt_text_hex_put_padded((char *)at, a->address);
    if (a->region) {
        put(t, ", ", 2);
        put(t, a->region, n);
    }
}

static void change(struct gt_exlog_vcpu *v, const struct gt_exlog_register *r, const uint8_t *bytes,
                   size_t n)
{
    struct text *t = v->sink;
    size_t name = strlen(r->name);
    if (!make_room(v, 8 + name + 2 * n))
        return;
    put(t, ", ", 2);
    put(t, r->name, name);
    put(t, " -> 0x", 6);
    static const char digits[] = "0123456789abcdef";
    for (size_t i = n; i-- > 0;) {
        *t->at++ = (uint8_t)digits[bytes[i] >> 4];
        *t->at++ = (uint8_t)digits[bytes[i] & 15];
    }
}

static void complete(struct gt_exlog_vcpu *v)
{
    struct text *t = v->sink;
    if (!t->again)
        t->again = g_string_new(NULL);
    g_string_truncate(t->again, 0);
    g_string_append_len(t->again, (const char *)t->line, t->at - t->line);
    t->complete = true;
}

static void end(struct gt_exlog_vcpu *v)
{
    struct text *t = v->sink;
    if (t->complete && v->recorder->repeats) {
        end_line(v);
        if (make_room(v, t->again->len))
            put(t, t->again->str, t->again->len);
    }
    if (v->recorder->repeats || t->at > t->line)
        end_line(v);
    hand_over(v);
    if (v->recorder->packet_sink)
        gt_packet_sink_submit(v->recorder->packet_sink, t->buffer);
    else
        free(t->buffer);
    if (t->again)
        g_string_free(t->again, TRUE);
    free(t);
    v->sink = NULL;
}

static size_t put_no_head(void *self, uint8_t *out)
{
    (void)self, (void)out;
    return 0;
}

static size_t put_no_gap(void *self, uint64_t bytes, uint8_t *out)
{
    (void)self, (void)bytes, (void)out;
    return 0;
}

static int options(struct gt_exlog *e, struct gt_packet_sink_options *o, struct gt_error *err)
{
    (void)e, (void)err;
    o->buffer_size = GT_EXLOG_BUFFER;
    o->head = put_no_head;
    o->mark = put_no_gap;
    return 0;
}

const struct gt_exlog_sink gt_exlog_text = {
    .options = options,
    .begin = begin,
    .describe = describe,
    .forget = forget,
    .lines = lines,
    .access = put_access,
    .change = change,
    .complete = complete,
    .end = end,
    .hand_over = hand_over,
};
