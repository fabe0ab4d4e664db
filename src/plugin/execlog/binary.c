/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines in the binary form (format/execlog/execlog.h). There an instruction completes the line
 * before it; a line that is complete though none follows is one that just gets no more, until the
 * end, which may log it once more: then what belongs to it is put again.
 */
#include "plugin/execlog/execlog.h"

#include "format/execlog/execlog.h"
#include "plugin/trace-plugin.h"

#include <stdlib.h>
#include <string.h>

/* What belongs to the newest line, where the end may want it again. */
struct piece {
    bool change;
    struct gt_exlog_access access;
    uint32_t device, reg;
    size_t size; /* a change's bytes, in `bytes` */
};

struct binary {
    struct gt_execlog_stream stream;
    struct gt_execlog_block own; /* under way; its lines may be forgotten */
    size_t reached;              /* so many of them have begun */
    bool complete;
    const char *place; /* of the newest access, and its number */
    uint32_t device;
    GString *place_name;
    GArray *pieces; /* NULL: nothing is logged again */
    GByteArray *bytes;
};

static struct gt_execlog_writer *writer;

static int options(struct gt_packet_sink_options *o, struct gt_error *err)
{
    const struct gt_execlog_setup setup = {
        .target = gt_exlog.host.target,
        .system = gt_exlog.host.system,
        .values = gt_exlog.values,
    };
    o->buffer_size = GT_EXECLOG_BUFFER;
    o->head = gt_execlog_head;
    o->mark = gt_execlog_mark;
    o->pack = gt_execlog_pack;
    o->tail = gt_execlog_tail;
    int status = gt_execlog_writer_create(&setup, &writer, err);
    o->self = writer;
    return status;
}

static struct gt_buffer *swap(void *outlet, struct gt_buffer *b)
{
    trace_execlog_records(b->used);
    struct gt_buffer *empty = gt_packet_sink_exchange(outlet, b);
    gt_exlog_tell_news();
    return empty;
}

static bool begin(struct gt_exlog_vcpu *v)
{
    struct binary *t = calloc(1, sizeof *t);
    struct gt_buffer *b = t ? gt_packet_sink_acquire(gt_exlog.outlet) : NULL;
    if (!b) {
        free(t);
        return false;
    }
    gt_execlog_begin(&t->stream, v->index, b, swap, gt_exlog.outlet);
    t->place_name = g_string_new(NULL);
    if (gt_exlog.register_globs) {
        t->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
        t->bytes = g_byte_array_new();
    }
    v->sink = t;
    return true;
}

static void *describe(const struct gt_exlog_block *b)
{
    g_autofree struct gt_execlog_insn *insns = g_new(struct gt_execlog_insn, b->n);
    struct gt_execlog_block *x = malloc(sizeof *x);
    for (size_t i = 0; i < b->n; i++)
        insns[i] = (struct gt_execlog_insn){
            .address = b->lines[i].pc,
            .opcode = b->lines[i].opcode,
            .text = b->lines[i].disassembly,
        };
    if (x && gt_execlog_define(writer, insns, b->n, x) == 0)
        return x;
    free(x);
    return NULL;
}

/* Other lines than those that follow what has begun. */
static void __attribute__((noinline))
go_on(struct binary *t, const struct gt_execlog_block *b, size_t from)
{
    if (t->own.id && t->reached < t->own.n)
        gt_execlog_stop(&t->stream, (uint32_t)t->reached);
    t->own = *b;
    if (from == 0)
        gt_execlog_start(&t->stream, b);
    else
        gt_execlog_start_within(&t->stream, b, (uint32_t)from);
}

static void lines(struct gt_exlog_vcpu *v, const struct gt_exlog_block *block, size_t from,
                  size_t to)
{
    struct binary *t = v->sink;
    const struct gt_execlog_block *b = block->described;
    if (b->id != t->own.id || from != t->reached || from == 0)
        go_on(t, b, from);
    t->reached = to;
    t->complete = false;
    if (t->pieces) {
        g_array_set_size(t->pieces, 0);
        g_byte_array_set_size(t->bytes, 0);
    }
}

static uint32_t device_of(struct binary *t, const char *place)
{
    if (!place)
        return 0;
    if (place != t->place || strcmp(place, t->place_name->str) != 0) {
        t->place = place;
        g_string_assign(t->place_name, place);
        t->device = gt_execlog_define_device(writer, place);
    }
    return t->device;
}

static void access_at(struct binary *t, const struct gt_exlog_access *a, uint32_t device)
{
    gt_execlog_device(&t->stream, device);
    gt_execlog_access(&t->stream, (uint32_t)t->reached - 1, a->store, a->address);
    if (a->has_value && a->size)
        gt_execlog_value(&t->stream, a->value, a->size);
}

static void put_access(struct gt_exlog_vcpu *v, const struct gt_exlog_access *a)
{
    struct binary *t = v->sink;
    uint32_t device = device_of(t, a->place);
    access_at(t, a, device);
    if (t->pieces) {
        struct piece p = {.access = *a, .device = device};
        g_array_append_val(t->pieces, p);
    }
}

static void change(struct gt_exlog_vcpu *v, const struct gt_exlog_register *r, const uint8_t *bytes,
                   size_t n)
{
    struct binary *t = v->sink;
    uint32_t reg = gt_execlog_define_register(writer, r->name, n);
    gt_execlog_register(&t->stream, (uint32_t)t->reached - 1, reg, bytes, n);
    struct piece p = {.change = true, .reg = reg, .size = n};
    g_array_append_val(t->pieces, p);
    g_byte_array_append(t->bytes, bytes, (guint)n);
}

static void complete(struct gt_exlog_vcpu *v)
{
    ((struct binary *)v->sink)->complete = true;
}

static void put_again(struct binary *t)
{
    uint32_t i = (uint32_t)t->reached - 1;
    if (t->reached < t->own.n)
        gt_execlog_stop(&t->stream, (uint32_t)t->reached);
    gt_execlog_start_within(&t->stream, &t->own, i);
    if (t->reached < t->own.n)
        gt_execlog_stop(&t->stream, (uint32_t)t->reached);
    const uint8_t *bytes = t->bytes->data;
    for (guint k = 0; k < t->pieces->len; k++) {
        const struct piece *p = &g_array_index(t->pieces, struct piece, k);
        if (!p->change) {
            access_at(t, &p->access, p->device);
            continue;
        }
        gt_execlog_register(&t->stream, i, p->reg, bytes, p->size);
        bytes += p->size;
    }
}

static void end(struct gt_exlog_vcpu *v)
{
    struct binary *t = v->sink;
    if (t->complete)
        put_again(t);
    else if (t->own.id && t->reached < t->own.n)
        gt_execlog_stop(&t->stream, (uint32_t)t->reached);
    gt_packet_sink_submit(gt_exlog.outlet, gt_execlog_end(&t->stream));
    g_string_free(t->place_name, TRUE);
    if (t->pieces) {
        g_array_free(t->pieces, TRUE);
        g_byte_array_free(t->bytes, TRUE);
    }
    free(t);
    v->sink = NULL;
}

static void hand_over(struct gt_exlog_vcpu *v)
{
    struct binary *t = v->sink;
    if (t->reached)
        gt_execlog_reach(&t->stream, (uint32_t)t->reached - 1);
    gt_execlog_cut(&t->stream);
}

static void fork_prepare(void)
{
    gt_execlog_writer_lock(writer);
}

static void fork_done(void)
{
    gt_execlog_writer_unlock(writer);
}

const struct gt_exlog_sink gt_exlog_binary = {
    .short_values = true,
    .options = options,
    .begin = begin,
    .describe = describe,
    .forget = free,
    .lines = lines,
    .access = put_access,
    .change = change,
    .complete = complete,
    .end = end,
    .hand_over = hand_over,
    .fork_prepare = fork_prepare,
    .fork_done = fork_done,
};
