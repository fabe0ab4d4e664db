/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests of execlog's binary form: a world of vCPUs that run made code. Each thing that
 * happens is told to the encoder and, beside it, put in words by printf as the plugin's text form
 * has them (docs/execlog.md): `text` is what the log must read as.
 */
#ifndef TESTS_EXECLOG_UTIL_H
#define TESTS_EXECLOG_UTIL_H

#include "base/file.h"
#include "execlog/format/execlog.h"
#include "execlog/format/reader.h"
#include "execlog/format/text.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORLD_VCPUS = 4, WORLD_BUFFER = 64 << 10, WORLD_BLOCKS = 200, WORLD_INSNS = 40 };

struct world_block {
    struct gt_execlog_block block;
    struct gt_execlog_insn insns[WORLD_INSNS];
    char texts[WORLD_INSNS][64];
};

struct world_vcpu {
    struct gt_execlog_stream stream;
    struct gt_text waiting, again; /* again: what is complete, and comes again at the end */
    unsigned number;
};

struct world {
    struct gt_execlog_writer *writer;
    struct gt_text log, text;
    struct world_block *blocks;
    struct world_vcpu *vcpus;
    uint64_t random;
    uint32_t devices[3], registers[3];
    size_t buffer; /* bytes */
    bool values;
    unsigned n_cuts; /* buffers that were handed over */
    uint64_t near;   /* all accesses are near here; 0: they are anywhere */
};

static const char *const world_devices[3] = {NULL, "RAM", "uart"};
static const char *const world_registers[3] = {"rax", "eflags", "v0"};
static const size_t world_sizes[3] = {8, 4, 16};

static inline uint64_t roll(struct world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static inline void world_pack(struct world *w, const struct gt_packet_buffer *b)
{
    size_t n = 0;
    const uint8_t *packed = gt_execlog_pack(w->writer, b, &n);
    assert_non_null(packed);
    gt_text_add(&w->log, packed, n);
    w->n_cuts++;
}

/* Another buffer is given, and the old one made unreadable. */
static inline struct gt_packet_buffer *world_buffer(struct world *w)
{
    struct gt_packet_buffer *b = malloc(sizeof *b + w->buffer);
    assert_non_null(b);
    *b = (struct gt_packet_buffer){.data = (uint8_t *)(b + 1), .size = w->buffer};
    memset(b->data, 0xdb, b->size);
    return b;
}

static inline struct gt_packet_buffer *world_swap(void *self, struct gt_packet_buffer *b)
{
    struct world *w = self;
    world_pack(w, b);
    free(b);
    return world_buffer(w);
}

static inline void world_define(struct world *w, size_t i)
{
    struct world_block *b = &w->blocks[i];
    static const char *const words[] = {"nop ", "movq %rax, 0x404000(, %rdx, 8)",
                                        "ldr x0, [x1, #8]!", "", "a \"quoted\" text, 0x1"};
    size_t n = 1 + roll(w, i % 7 ? 8 : WORLD_INSNS);
    uint64_t pc = roll(w, 4) ? 0x400000 + 64 * i : 0xffffffff80000000 + 64 * i;
    for (size_t k = 0; k < n; k++) {
        snprintf(b->texts[k], sizeof b->texts[k], "%s%u", words[roll(w, 5)], (unsigned)roll(w, 3));
        b->insns[k] = (struct gt_execlog_insn){pc, (uint32_t)(w->random >> 7), b->texts[k]};
        pc += 1 + roll(w, 8);
    }
    assert_int_equal(gt_execlog_define(w->writer, b->insns, n, &b->block), 0);
}

static inline void world_make(struct world *w, uint64_t seed, size_t buffer, bool values)
{
    uint8_t head[GT_PACKET_SINK_TEXT];
    const struct gt_execlog_setup setup = {"made", true, values};
    *w = (struct world){.random = seed * 2654435761 + 1, .buffer = buffer, .values = values};
    w->blocks = calloc(WORLD_BLOCKS, sizeof *w->blocks);
    w->vcpus = calloc(WORLD_VCPUS, sizeof *w->vcpus);
    assert_int_equal(gt_execlog_writer_create(&setup, &w->writer, NULL), 0);
    gt_text_add(&w->log, head, gt_execlog_head(w->writer, head));
    for (size_t i = 1; i < 3; i++)
        w->devices[i] = gt_execlog_define_device(w->writer, world_devices[i]);
    for (size_t i = 0; i < 3; i++)
        w->registers[i] = gt_execlog_define_register(w->writer, world_registers[i], world_sizes[i]);
    for (size_t i = 0; i < WORLD_BLOCKS / 2; i++)
        world_define(w, i);
    for (unsigned i = 0; i < WORLD_VCPUS; i++) {
        struct world_vcpu *v = &w->vcpus[i];
        v->number = i ? i * 77 : 0;
        gt_execlog_begin(&v->stream, v->number, world_buffer(w), world_swap, w);
    }
}

static inline void world_free(struct world *w)
{
    for (unsigned i = 0; i < WORLD_VCPUS; i++) {
        gt_text_free(&w->vcpus[i].waiting);
        gt_text_free(&w->vcpus[i].again);
    }
    gt_execlog_writer_destroy(w->writer);
    gt_text_free(&w->log);
    gt_text_free(&w->text);
    free(w->blocks);
    free(w->vcpus);
}

/* ---- what happens, twice ------------------------------------------------------------------- */

static inline void world_line(struct world *w, struct world_vcpu *v, bool even_empty)
{
    if (!v->waiting.len && !even_empty)
        return;
    gt_text_add(&w->text, v->waiting.data, v->waiting.len);
    gt_text_add(&w->text, "\n", 1);
    v->waiting.len = 0;
}

static inline void world_complete(struct world *w, struct world_vcpu *v)
{
    gt_execlog_complete(&v->stream);
    v->again.len = 0;
    gt_text_add(&v->again, v->waiting.data, v->waiting.len);
    world_line(w, v, false);
}

static inline void world_say(struct world *w, struct world_vcpu *v, const struct world_block *b,
                             uint32_t i)
{
    world_line(w, v, false);
    v->again.len = 0;
    gt_text_printf(&v->waiting, "%u, 0x%" PRIx64 ", 0x%" PRIx32 ", \"%s\"", v->number,
                   b->insns[i].address, b->insns[i].opcode, b->insns[i].text);
}

static inline void world_access(struct world *w, struct world_vcpu *v, uint32_t i)
{
    uint64_t address = roll(w, 3) ? 0x1000 + 8 * roll(w, 100) : roll(w, UINT64_MAX);
    if (w->near)
        address = w->near + 8 * roll(w, 100);
    uint64_t value[2] = {roll(w, 2) ? roll(w, 1000) : roll(w, UINT64_MAX), roll(w, 10)};
    bool store = roll(w, 2);
    size_t device = roll(w, 5) ? 1 : roll(w, 3);
    gt_execlog_device(&v->stream, w->devices[device]);
    gt_execlog_access(&v->stream, i, store, address);
    gt_text_printf(&v->waiting, ", %s, 0x%08" PRIx64, store ? "store" : "load", address);
    if (world_devices[device])
        gt_text_printf(&v->waiting, ", %s", world_devices[device]);
    if (w->values && roll(w, 4)) {
        bool wide = roll(w, 4) == 0;
        gt_execlog_value(&v->stream, value, wide ? 16 : 8);
        if (wide && value[1])
            gt_text_printf(&v->waiting, " = 0x%" PRIx64 "%016" PRIx64, value[1], value[0]);
        else
            gt_text_printf(&v->waiting, " = 0x%" PRIx64, value[0]);
    }
}

static inline void world_change(struct world *w, struct world_vcpu *v)
{
    size_t r = roll(w, 3);
    uint8_t value[16];
    for (size_t k = 0; k < 16; k++)
        value[k] = (uint8_t)(k && roll(w, 2) ? 0 : roll(w, 256));
    gt_execlog_register(&v->stream, v->stream.index, w->registers[r], value, world_sizes[r]);
    gt_text_printf(&v->waiting, ", %s -> 0x", world_registers[r]);
    for (size_t k = world_sizes[r]; k--;)
        gt_text_printf(&v->waiting, "%02x", value[k]);
}

/* A block runs, for who hears of blocks only. */
static inline void world_run_block(struct world *w, struct world_vcpu *v,
                                   const struct world_block *b)
{
    uint32_t ran = roll(w, 9) ? b->block.n : 1 + (uint32_t)roll(w, b->block.n);
    gt_execlog_start(&v->stream, &b->block);
    for (uint32_t i = 0; i < ran; i++) {
        world_say(w, v, b, i);
        while (roll(w, 3) == 0)
            world_access(w, v, i);
    }
    if (ran < b->block.n)
        gt_execlog_stop(&v->stream, ran);
    else
        gt_execlog_reach(&v->stream, ran - 1);
}

/* The same, for who hears of each instruction, and looks at registers. */
static inline void world_run_insns(struct world *w, struct world_vcpu *v,
                                   const struct world_block *b)
{
    uint32_t from = roll(w, 20) ? 0 : (uint32_t)roll(w, b->block.n);
    uint32_t to = roll(w, 9) ? b->block.n : from + (uint32_t)roll(w, b->block.n - from + 1);
    for (uint32_t i = from; i < to; i++) {
        while (roll(w, 6) == 0)
            world_change(w, v);
        gt_execlog_lines(&v->stream, &b->block, i, i + 1);
        world_say(w, v, b, i);
        while (roll(w, 3) == 0)
            world_access(w, v, v->stream.index);
        if (roll(w, 20) == 0)
            world_complete(w, v);
    }
}

static inline void world_run(struct world *w, struct world_vcpu *v, bool insns)
{
    if (roll(w, 50) == 0) /* code is translated while others run */
        for (size_t i = WORLD_BLOCKS / 2; i < WORLD_BLOCKS; i++) {
            if (w->blocks[i].block.id)
                continue;
            world_define(w, i);
            break;
        }
    const struct world_block *b = &w->blocks[roll(w, WORLD_BLOCKS)];
    if (!b->block.id)
        return;
    if (insns)
        world_run_insns(w, v, b);
    else
        world_run_block(w, v, b);
}

/* All lines are complete, and the log is. */
static inline void world_end(struct world *w)
{
    size_t n = 0;
    for (unsigned i = 0; i < WORLD_VCPUS; i++)
        gt_execlog_cut(&w->vcpus[i].stream);
    for (unsigned i = 0; i < WORLD_VCPUS; i++) {
        struct gt_packet_buffer *b = gt_execlog_end(&w->vcpus[i].stream, true);
        if (!w->vcpus[i].waiting.len)
            gt_text_add(&w->text, w->vcpus[i].again.data, w->vcpus[i].again.len);
        world_line(w, &w->vcpus[i], true);
        world_pack(w, b);
        free(b);
    }
    const uint8_t *tail = gt_execlog_tail(w->writer, &n);
    assert_non_null(tail);
    gt_text_add(&w->log, tail, n);
}

/* ---- reading ------------------------------------------------------------------------------- */

struct bytes_source {
    const uint8_t *data;
    size_t size, at;
    size_t piece;  /* bytes a read gives at most */
    uint64_t read; /* bytes */
    int fail;      /* errno at the end instead of an end */
};

static inline ssize_t bytes_read(void *self, void *out, size_t n)
{
    struct bytes_source *s = self;
    size_t left = s->size - s->at;
    n = n < left ? n : left;
    n = n < s->piece ? n : s->piece;
    if (!n && s->fail) {
        errno = s->fail;
        return -1;
    }
    if (n)
        memcpy(out, s->data + s->at, n);
    s->at += n;
    s->read += n;
    return (ssize_t)n;
}

static inline bool bytes_seek(void *self, uint64_t offset)
{
    struct bytes_source *s = self;
    if (offset > s->size)
        return false;
    s->at = offset;
    return true;
}

static inline int lines_to_text(void *self, const char *text, size_t n)
{
    gt_text_add(self, text, n);
    return 0;
}

static inline uint64_t count_lines(const char *text, size_t n)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

/* All lines that a log gives in order, damaged places left out: 0, or the first error. */
static inline int read_all(struct bytes_source *s, bool values, struct gt_text *out,
                           struct gt_error *err)
{
    struct gt_execlog_source source = {"made.log", bytes_read, NULL, s};
    struct gt_execlog_reader *r = NULL;
    struct gt_execlog_text *t = NULL;
    struct gt_execlog_item item;
    struct gt_error why;
    int first = gt_execlog_reader_create(&source, &r, err), status;
    if (first < 0)
        return first;
    const struct gt_execlog_text_options o = {gt_execlog_all, values, lines_to_text, NULL, out};
    assert_int_equal(gt_execlog_text_create(gt_execlog_reader_codes(r), &o, &t, NULL), 0);
    while ((status = gt_execlog_next(r, &item, &why)) == 1 || status == GT_E_FORMAT) {
        const uint8_t *body;
        if (status == 1 && item.chunk.type == GT_EXECLOG_DEFINITIONS)
            status = gt_execlog_learn(r, &item, &why);
        else if (status == 1 && item.chunk.type == GT_EXECLOG_EVENTS)
            if ((status = gt_execlog_body(r, &item, &body, &why)) == 0) {
                size_t before = out->len;
                status = gt_execlog_text_add(t, &item.chunk, body, &why);
                gt_execlog_text_flush(t);
                if (status == 0 && first == 0)
                    assert_int_equal(count_lines(out->data + before, out->len - before),
                                     item.chunk.count);
            }
        if (status < 0 && first == 0) {
            first = status;
            *err = why;
        }
        if (status < 0)
            gt_execlog_text_lose(t);
        if (status < 0 && status != GT_E_FORMAT)
            break;
    }
    if (status < 0 && first == 0) {
        first = status;
        *err = why;
    }
    if (first == 0 && !gt_execlog_whole(r))
        first = 1;
    gt_execlog_text_flush(t);
    gt_execlog_text_destroy(t);
    gt_execlog_reader_destroy(r);
    return first;
}

#endif
