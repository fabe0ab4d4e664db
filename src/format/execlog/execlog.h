/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execlog's binary form, as it is written; docs/execlog.md has every byte of it, reader.h
 * reads it.
 *
 * A log is a header and chunks. What a translation's instructions print is said once, in a chunk
 * of definitions. What ran is in chunks of events: each is one buffer of one vCPU, packed by zstd,
 * and can be read alone: all differences begin anew with it. An event says what happens to the
 * vCPU's waiting line, the one of its newest instruction, just as the text form makes it: an
 * instruction that starts completes the waiting line, if anything is in it, and begins another; an
 * access or a register's change is added to it.
 *
 * Who writes: a gt_execlog_writer for the log, a gt_execlog_stream for each vCPU. The streams' side
 * runs on the vCPU's thread: no lock, no allocation, a few bytes an event into a buffer, which
 * `swap` exchanges when it is full. Translations define their blocks (a lock). The writer's side
 * is the packet sink's thread: gt_execlog_pack makes a chunk of a buffer, after one of the
 * definitions that came until then.
 */
#ifndef GT_FORMAT_EXECLOG_EXECLOG_H
#define GT_FORMAT_EXECLOG_EXECLOG_H

#include "base/error.h"
#include "base/sink/sink.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    GT_EXECLOG_BUFFER = 256 << 10, /* bytes; what gt_packet_sink_options.buffer_size should be */
    GT_EXECLOG_EVENT = 96,         /* an event takes no more, but for registers of above 8 bytes */
    GT_EXECLOG_SPARE = 8 << 10,    /* a block does not begin where fewer are left */
    GT_EXECLOG_SLOTS = 512,
    GT_EXECLOG_MAX_INSNS = 1024, /* of a block */
    GT_EXECLOG_MAX_TEXT = 1024,  /* of a disassembly or a name; what is longer is cut */
    GT_EXECLOG_MAX_VALUE = 4096, /* bytes of a register */
    GT_EXECLOG_MAX_REGISTERS = 2048,
};

/* ---- the log ------------------------------------------------------------------------------- */

struct gt_execlog_writer;

struct gt_execlog_setup {
    const char *target; /* QEMU's name of the guest's architecture, at most 31 bytes of it */
    bool system;
    bool values; /* values of memory accesses will be put where they are known */
};

/* GT_E_NOMEM. */
int gt_execlog_writer_create(const struct gt_execlog_setup *setup, struct gt_execlog_writer **out,
                             struct gt_error *err);
void gt_execlog_writer_destroy(struct gt_execlog_writer *w); /* NULL is fine */

/* One instruction's line: `VCPU, 0xADDRESS, 0xOPCODE, "TEXT"`. */
struct gt_execlog_insn {
    uint64_t address;
    uint32_t opcode;
    const char *text;
};

/* Instructions that are logged, of one translation, in their order. */
struct gt_execlog_block {
    uint32_t id;    /* 0: none */
    uint32_t n;     /* instructions */
    uint32_t first; /* number of the first one in the log */
};

/* These may be called by any thread, and take the writer's lock. What they return may be used at
 * once, by every stream. The strings are copied.
 * define: n is 1 to GT_EXECLOG_MAX_INSNS; GT_E_NOMEM, GT_E_RANGE (too many of all blocks).
 * device, register: their number; the same again for the same name (and size); 0 for a device and
 * GT_EXECLOG_MAX_REGISTERS for a register where there is no memory or there are too many. */
int gt_execlog_define(struct gt_execlog_writer *w, const struct gt_execlog_insn *insns, size_t n,
                      struct gt_execlog_block *out);
uint32_t gt_execlog_define_device(struct gt_execlog_writer *w, const char *name);
uint32_t gt_execlog_define_register(struct gt_execlog_writer *w, const char *name, size_t size);

/* What gt_packet_sink_options takes; `writer` is its self. head must come first, tail last. */
size_t gt_execlog_head(void *writer, uint8_t *out);
size_t gt_execlog_mark(void *writer, uint64_t bytes, uint8_t *out);
const uint8_t *gt_execlog_pack(void *writer, const struct gt_buffer *b, size_t *n);
const uint8_t *gt_execlog_tail(void *writer, size_t *n);

/* Around fork(), so that the child does not find it locked. */
void gt_execlog_writer_lock(struct gt_execlog_writer *w);
void gt_execlog_writer_unlock(struct gt_execlog_writer *w);

/* The buffer's first lines that are not to be in the log (a ring of the last lines). */
void gt_execlog_skip(struct gt_buffer *b, uint32_t lines);

/* ---- a vCPU's events ----------------------------------------------------------------------- */

/* What gt_packet_sink_exchange does. */
typedef struct gt_buffer *(*gt_execlog_swap_fn)(void *self, struct gt_buffer *b);

/* The vCPU's alone. Zeroed, it is not begun. */
struct gt_execlog_stream {
    uint8_t *at;                   /* where the next event goes */
    uint8_t *end;                  /* at > end: no event may begin here */
    const uint8_t *fresh;          /* `at` of a buffer in which nothing has happened yet */
    struct gt_execlog_block under; /* the block under way; what it was, after a stop */
    uint32_t index;                /* of its instruction whose line waits; UINT32_MAX: none */
    uint32_t told;                 /* the same, as the events so far say it */
    uint32_t device;               /* of accesses, as the events so far say it */
    uint32_t vcpu;
    uint32_t slot; /* of the newest access */
    bool stopped;  /* no other instruction of the block follows */
    bool by_insn;  /* the block under way was started by gt_execlog_lines */
    struct gt_buffer *buffer;
    gt_execlog_swap_fn swap;
    void *self;
    /* By what the next difference is taken; an instruction has a slot, which some share. */
    uint64_t addresses[GT_EXECLOG_SLOTS], values[GT_EXECLOG_SLOTS];
    uint64_t registers[GT_EXECLOG_MAX_REGISTERS];
};

/* The buffer has at least 4 * GT_EXECLOG_SPARE bytes; so have all that swap gives. */
void gt_execlog_begin(struct gt_execlog_stream *s, unsigned vcpu, struct gt_buffer *b,
                      gt_execlog_swap_fn swap, void *self);
/* The vCPU's waiting line is complete, an empty one too: it is printed, as at the guest's exit.
 * Returns the buffer, to be handed over, and the stream is not begun any more. */
struct gt_buffer *gt_execlog_end(struct gt_execlog_stream *s);
/* The waiting line is complete, though none follows yet. If none does, gt_execlog_end prints it
 * once more. */
void gt_execlog_complete(struct gt_execlog_stream *s);
/* Hands over what there is, in the middle of a line if need be: where another vCPU goes on on this
 * thread, so that lines are in the order in which they were completed; where somebody reads while
 * the guest runs. */
void gt_execlog_cut(struct gt_execlog_stream *s);

/* The cold side of the calls below. */
void gt_execlog_next_buffer(struct gt_execlog_stream *s) __attribute__((cold));
void gt_execlog_next_block(struct gt_execlog_stream *s) __attribute__((cold));
void gt_execlog_start_within(struct gt_execlog_stream *s, const struct gt_execlog_block *b,
                             uint32_t i) __attribute__((cold));

enum gt_execlog_event {
    GT_EXECLOG_VALUE = 0x00,    /* 0000llll: of the access before */
    GT_EXECLOG_STOP = 0x10,     /* number: so many instructions of the block have started */
    GT_EXECLOG_WITHIN = 0x11,   /* id, index: a block that starts with that instruction */
    GT_EXECLOG_RESUME = 0x12,   /* id, index: the waiting line is that one's; first of a buffer */
    GT_EXECLOG_DEVICE = 0x13,   /* number: of the accesses that follow */
    GT_EXECLOG_LINE = 0x14,     /* the waiting line is complete, if anything is in it */
    GT_EXECLOG_LAST = 0x15,     /* the same, even an empty one; or the one of COMPLETE again */
    GT_EXECLOG_COMPLETE = 0x16, /* number: so many more have started; the newest is complete */
    GT_EXECLOG_REGISTER = 0x20, /* 001rrrrr, aaaallll */
    GT_EXECLOG_BLOCK = 0x40,    /* 01iiiiii */
    GT_EXECLOG_ACCESS = 0x80,   /* 1saaalll */
};

/* Seven bits a byte, the low ones first. */
static inline uint8_t *gt_execlog_put_number(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* The sign in the lowest bit: differences of both signs are small numbers. */
static inline uint64_t gt_execlog_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

/* How many bytes hold v, 0 to 8. */
static inline unsigned gt_execlog_bytes(uint64_t v)
{
    return v ? (71 - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

static inline void gt_execlog_store64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

/* 010iiiii i8, 0110iiii i16, 01110iii i24, 01111000 i32; the high bits come first. */
static inline uint8_t *gt_execlog_put_block(uint8_t *p, uint32_t id)
{
    uint32_t word;
    unsigned n;
    if (__builtin_expect(id < 1u << 13, 1)) {
        word = (0x4000 | id) << 16;
        n = 2;
    } else if (id < 1u << 20) {
        word = (0x600000 | id) << 8;
        n = 3;
    } else if (id < 1u << 27) {
        word = 0x70000000 | id;
        n = 4;
    } else {
        *p++ = 0x78;
        word = id;
        n = 4;
    }
    word = htobe32(word);
    memcpy(p, &word, sizeof word);
    return p + n;
}

/* Instruction i of the block under way has started, and so have those before it. */
static inline void gt_execlog_reach(struct gt_execlog_stream *s, uint32_t i)
{
    if (!s->stopped && i > s->index && i < s->under.n)
        s->index = i;
}

/* The first n instructions of the block under way have started, and no other one will: it was left
 * by an exception or an interrupt. Without this all of them have when something else starts. */
static inline void gt_execlog_stop(struct gt_execlog_stream *s, uint32_t n)
{
    if (s->stopped || n >= s->under.n)
        return;
    if (__builtin_expect(s->at > s->end, 0))
        gt_execlog_next_buffer(s);
    if (n <= s->told)
        n = s->told + 1;
    *s->at++ = GT_EXECLOG_STOP;
    s->at = gt_execlog_put_number(s->at, n);
    s->index = s->told = n - 1;
    s->stopped = true;
}

/* The first instruction of a block starts. */
static inline void gt_execlog_start(struct gt_execlog_stream *s, const struct gt_execlog_block *b)
{
    if (__builtin_expect(s->end - s->at < GT_EXECLOG_SPARE, 0))
        gt_execlog_next_block(s);
    s->under = *b;
    s->index = s->told = 0;
    s->stopped = s->by_insn = false;
    s->at = gt_execlog_put_block(s->at, b->id);
}

/* For who hears of each instruction: from..to - 1 of the block have started, one after the other.
 * Those of the block under way that it was not called for did not. */
static inline void gt_execlog_lines(struct gt_execlog_stream *s, const struct gt_execlog_block *b,
                                    uint32_t from, uint32_t to)
{
    if (b->id == s->under.id && from == s->index + 1 && !s->stopped) {
        s->index = to - 1;
        return;
    }
    gt_execlog_stop(s, s->index + 1);
    if (from == 0)
        gt_execlog_start(s, b);
    else
        gt_execlog_start_within(s, b, from);
    s->index = to - 1;
    s->by_insn = true;
}

/* What follows until the next start belongs to the waiting line, or to that of instruction i of the
 * block under way, if that is a later one. */

/* Of the accesses that follow: a number of gt_execlog_define_device, or 0: none is printed. */
static inline void gt_execlog_device(struct gt_execlog_stream *s, uint32_t device)
{
    if (__builtin_expect(device == s->device, 1))
        return;
    if (__builtin_expect(s->at > s->end, 0))
        gt_execlog_next_buffer(s);
    *s->at++ = GT_EXECLOG_DEVICE;
    s->at = gt_execlog_put_number(s->at, device);
    s->device = device;
}

static inline void gt_execlog_access(struct gt_execlog_stream *s, uint32_t i, bool store,
                                     uint64_t address)
{
    if (__builtin_expect(s->at > s->end, 0))
        gt_execlog_next_buffer(s);
    gt_execlog_reach(s, i);
    s->slot = (s->under.first + s->index) % GT_EXECLOG_SLOTS;
    uint64_t v = gt_execlog_fold(address - s->addresses[s->slot]);
    s->addresses[s->slot] = address;
    unsigned n = gt_execlog_bytes(v), code = n < 7 ? n : 7;
    uint32_t steps = s->index - s->told;
    uint8_t *p = s->at;
    *p++ = (uint8_t)(GT_EXECLOG_ACCESS | store << 6 | (steps < 7 ? steps : 7) << 3 | code);
    if (__builtin_expect(steps >= 7, 0))
        p = gt_execlog_put_number(p, steps - 7);
    gt_execlog_store64(p, v);
    s->at = p + n + (n == 7);
    s->told = s->index;
}

/* The value of the access before, low half first; size 1 to 16 bytes. Logs with `values` only. */
static inline void gt_execlog_value(struct gt_execlog_stream *s, const uint64_t value[2],
                                    unsigned size)
{
    uint8_t *p = s->at;
    if (size > 8) {
        *p = GT_EXECLOG_VALUE | 15;
        gt_execlog_store64(p + 1, value[0]);
        gt_execlog_store64(p + 9, value[1]);
        s->at = p + 17;
        return;
    }
    uint64_t v = gt_execlog_fold(value[0] - s->values[s->slot]);
    s->values[s->slot] = value[0];
    unsigned n = gt_execlog_bytes(v);
    *p = (uint8_t)(GT_EXECLOG_VALUE | n);
    gt_execlog_store64(p + 1, v);
    s->at = p + 1 + n;
}

/* A register has another value: its bytes, the lowest first. `reg` is what
 * gt_execlog_define_register gave for it and this size. */
void gt_execlog_register(struct gt_execlog_stream *s, uint32_t i, uint32_t reg,
                         const uint8_t *value, size_t size);

#endif
