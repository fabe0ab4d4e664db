/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink that writes the binary form (execlog/format/execlog.h). There an instruction completes
 * the line before it; a line that is complete though none follows gets no more, until the end,
 * which may log it once more: then what belongs to it is put again.
 */
#include "execlog/format/execlog.h"

#include "execlog/plugin/recorder.h"
#include "qemu/support/messages.h"
#include "qemu/support/trace-plugin.h"

#include <stdlib.h>
#include <string.h>

/* What belongs to the newest line, where the end may log it again. */
struct piece {
    bool change;
    struct gt_exlog_access access;
    uint32_t device, reg;
    size_t size; /* a change's bytes, in `bytes` */
};

struct binary {
    struct gt_execlog_stream stream;
    struct gt_execlog_block own; /* the current block, a copy: the block may end */
    size_t reached;              /* how many of its lines have begun */
    bool complete;
    const char *region; /* of the newest access; `device` is its number */
    uint32_t device;
    GString *region_name;
    GArray *pieces; /* struct piece; NULL: nothing is logged again */
    GByteArray *bytes;
};

static int options(struct gt_exlog *e, struct gt_packet_sink_options *o, struct gt_error *err)
{
    const struct gt_execlog_setup setup = {
        .target = e->host.target,
        .system = e->host.system,
        .values = e->values,
    };
    o->buffer_size = GT_EXECLOG_BUFFER;
    o->head = gt_execlog_head;
    o->mark = gt_execlog_mark;
    o->pack = gt_execlog_pack;
    o->tail = gt_execlog_tail;
    o->exec_tail = gt_execlog_exec_tail;
    int status = gt_execlog_writer_create(&setup, &e->writer, err);
    o->self = e->writer;
    return status;
}

static struct gt_packet_buffer *exchange(void *packet_sink, struct gt_packet_buffer *b)
{
    trace_execlog_records(b->used);
    struct gt_packet_buffer *empty = gt_packet_sink_exchange(packet_sink, b);
    gt_support_sink_message_report(packet_sink);
    return empty;
}

static bool begin(struct gt_exlog_vcpu *v)
{
    struct gt_exlog *e = v->recorder;
    struct binary *t = calloc(1, sizeof *t);
    struct gt_packet_buffer *b = t ? gt_packet_sink_acquire(e->packet_sink) : NULL;
    if (!b) {
        free(t);
        return false;
    }
    gt_execlog_begin(&t->stream, v->index, b, exchange, e->packet_sink);
    t->region_name = g_string_new(NULL);
    if (e->registers.globs) {
        t->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
        t->bytes = g_byte_array_new();
    }
    v->sink = t;
    return true;
}

static void *describe(struct gt_exlog *e, const struct gt_exlog_block *b)
{
    g_autofree struct gt_execlog_insn *insns = g_new(struct gt_execlog_insn, b->n);
    struct gt_execlog_block *x = malloc(sizeof *x);
    for (size_t i = 0; i < b->n; i++)
        insns[i] = (struct gt_execlog_insn){
            .address = b->lines[i].pc,
            .opcode = b->lines[i].opcode,
            .text = b->lines[i].disassembly,
        };
    if (x && gt_execlog_define(e->writer, insns, b->n, x) == 0)
        return x;
    free(x);
    return NULL;
}

static void forget(struct gt_exlog *e, void *described)
{
    (void)e;
    free(described);
}

/* Begins lines that do not follow those that have begun. */
static void __attribute__((noinline))
begin_lines(struct binary *t, const struct gt_execlog_block *b, size_t from)
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
        begin_lines(t, b, from);
    t->reached = to;
    t->complete = false;
    if (t->pieces) {
        g_array_set_size(t->pieces, 0);
        g_byte_array_set_size(t->bytes, 0);
    }
}

static uint32_t device_of(struct gt_execlog_writer *writer, struct binary *t, const char *region)
{
    if (!region)
        return 0;
    if (region != t->region || strcmp(region, t->region_name->str) != 0) {
        t->region = region;
        g_string_assign(t->region_name, region);
        t->device = gt_execlog_define_device(writer, region);
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
    uint32_t device = device_of(v->recorder->writer, t, a->region);
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
    uint32_t reg = gt_execlog_define_register(v->recorder->writer, r->name, n);
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
    const bool repeats = v->recorder->repeats;
    if (t->complete && repeats)
        put_again(t);
    else if (t->own.id && t->reached < t->own.n)
        gt_execlog_stop(&t->stream, (uint32_t)t->reached);
    gt_packet_sink_submit(v->recorder->packet_sink, gt_execlog_end(&t->stream, repeats));
    g_string_free(t->region_name, TRUE);
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

static void fork_prepare(struct gt_exlog *e)
{
    gt_execlog_writer_lock(e->writer);
}

static void fork_done(struct gt_exlog *e)
{
    gt_execlog_writer_unlock(e->writer);
}

const struct gt_exlog_sink gt_exlog_binary = {
    .short_values = true,
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
    .fork_prepare = fork_prepare,
    .fork_done = fork_done,
};
