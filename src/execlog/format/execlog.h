/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing execlog's binary form. docs/execlog.md describes every byte; reader.h reads it.
 *
 * A log is a header and chunks. The text of a translation's instructions is stored once, in a chunk
 * of definitions. The execution is in chunks of events: each holds one buffer of one vCPU,
 * compressed with zstd, and can be read alone, since all differences start from 0 in it. An event
 * changes the vCPU's waiting line, the line of its newest instruction, as in the text form: an
 * instruction that starts completes the waiting line, if it is not empty, and begins another; an
 * access or a register's change is added to it.
 *
 * A gt_execlog_writer writes the log, with a gt_execlog_stream for each vCPU. A stream runs on its
 * vCPU's thread: it takes no lock, does not allocate, and writes a few bytes an event into a
 * buffer, which `swap` exchanges when it is full. Translations define their blocks, under the
 * writer's lock. The packet sink's thread packs: gt_execlog_pack makes a chunk of a buffer, after a
 * chunk of the definitions that are new.
 */
#ifndef GT_EXECLOG_FORMAT_EXECLOG_H
#define GT_EXECLOG_FORMAT_EXECLOG_H

#include "base/error.h"
#include "base/sink/sink.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    GT_EXECLOG_BUFFER =
        256 << 10,         /* bytes of a buffer: the value for gt_packet_sink_options.buffer_size */
    GT_EXECLOG_EVENT = 96, /* bytes of the longest event, registers of more than 8 bytes excepted */
    GT_EXECLOG_SPARE = 8 << 10, /* bytes that must be left in the buffer where a block begins */
    GT_EXECLOG_SLOTS = 512,
    GT_EXECLOG_MAX_INSNS = 1024, /* instructions of a block */
    GT_EXECLOG_MAX_TEXT = 1024,  /* bytes of a disassembly or a name; longer ones are cut */
    GT_EXECLOG_MAX_VALUE = 4096, /* bytes of a register */
    GT_EXECLOG_MAX_REGISTERS = 2048,
};

/* ---- the log ------------------------------------------------------------------------------- */

struct gt_execlog_writer;

struct gt_execlog_setup {
    const char *target; /* QEMU's name of the guest's architecture; 31 bytes are stored */
    bool system;
    bool values; /* the log has values of memory accesses where they are known */
};

/* GT_E_NOMEM. */
int gt_execlog_writer_create(const struct gt_execlog_setup *setup, struct gt_execlog_writer **out,
                             struct gt_error *err);
void gt_execlog_writer_destroy(struct gt_execlog_writer *w); /* NULL is fine */

/* The definition of one instruction's line: `VCPU, 0xADDRESS, 0xOPCODE, "TEXT"`. */
struct gt_execlog_insn {
    uint64_t address;
    uint32_t opcode;
    const char *text;
};

/* The logged instructions of one translation, in order. */
struct gt_execlog_block {
    uint32_t id;    /* 0: none */
    uint32_t n;     /* instructions */
    uint32_t first; /* number of the first instruction in the log */
};

/* Any thread may call these functions; they take the writer's lock. Every stream may use their
 * results at once. Strings are copied. define: n is 1 to GT_EXECLOG_MAX_INSNS; GT_E_NOMEM,
 * GT_E_RANGE (too many instructions in all blocks). define_device and define_register return a
 * number, the same for the same name (and size); if memory is out or there are too many they return
 * 0 for a device and GT_EXECLOG_MAX_REGISTERS for a register. */
int gt_execlog_define(struct gt_execlog_writer *w, const struct gt_execlog_insn *insns, size_t n,
                      struct gt_execlog_block *out);
uint32_t gt_execlog_define_device(struct gt_execlog_writer *w, const char *name);
uint32_t gt_execlog_define_register(struct gt_execlog_writer *w, const char *name, size_t size);

/* The callbacks for gt_packet_sink_options; `writer` is their `self`. head must be called first,
 * tail last. */
size_t gt_execlog_head(void *writer, uint8_t *out);
size_t gt_execlog_mark(void *writer, uint64_t bytes, uint8_t *out);
const uint8_t *gt_execlog_pack(void *writer, const struct gt_packet_buffer *b, size_t *n);
const uint8_t *gt_execlog_tail(void *writer, size_t *n);
/* The same for now: the log may go on. */
const uint8_t *gt_execlog_exec_tail(void *writer, size_t *n);

/* Call these around fork(), so that the lock is free in the child. */
void gt_execlog_writer_lock(struct gt_execlog_writer *w);
void gt_execlog_writer_unlock(struct gt_execlog_writer *w);

/* ---- a vCPU's events ----------------------------------------------------------------------- */

/* As gt_packet_sink_exchange. */
typedef struct gt_packet_buffer *(*gt_execlog_swap_fn)(void *self, struct gt_packet_buffer *b);

/* The stream of one vCPU, used by its thread only. All zero: not begun. */
struct gt_execlog_stream {
    uint8_t *at;                   /* place of the next event */
    uint8_t *end;                  /* at > end: no event may begin here */
    const uint8_t *fresh;          /* `at` of a buffer without events */
    struct gt_execlog_block under; /* the current block; after a stop the one that was stopped */
    uint32_t index;   /* the instruction of `under` whose line waits; UINT32_MAX: none */
    uint32_t encoded; /* `index` that the events so far encode */
    uint32_t device;  /* device of accesses, as far as the events so far encode it */
    uint32_t vcpu;
    uint32_t slot; /* slot of the newest access */
    bool stopped;  /* no further instruction of the block starts */
    bool by_insn;  /* gt_execlog_lines started the current block */
    struct gt_packet_buffer *buffer;
    gt_execlog_swap_fn swap;
    void *self;
    /* The base of the next difference. Each instruction has a slot; several may share one. */
    uint64_t addresses[GT_EXECLOG_SLOTS], values[GT_EXECLOG_SLOTS];
    uint64_t registers[GT_EXECLOG_MAX_REGISTERS];
};

/* Begins a stream. Its buffers, b and those that swap returns, must have at least 4 *
 * GT_EXECLOG_SPARE bytes. */
void gt_execlog_begin(struct gt_execlog_stream *s, unsigned vcpu, struct gt_packet_buffer *b,
                      gt_execlog_swap_fn swap, void *self);
/* Ends the stream: the vCPU's waiting line is complete. With `repeats` it is printed even if it is
 * empty, and one that was completed comes again. Returns the buffer, which the caller submits. */
struct gt_packet_buffer *gt_execlog_end(struct gt_execlog_stream *s, bool repeats);
/* Completes the waiting line although no line follows yet. If none follows, gt_execlog_end prints
 * it again. */
void gt_execlog_complete(struct gt_execlog_stream *s);
/* Exchanges the buffer, even in the middle of a line: when another vCPU continues on this thread,
 * so that lines keep the order of their completion; and while a reader follows the running guest.
 *
 */
void gt_execlog_cut(struct gt_execlog_stream *s);

/* The slow paths of the functions below. */
void gt_execlog_next_buffer(struct gt_execlog_stream *s) __attribute__((cold));
void gt_execlog_next_block(struct gt_execlog_stream *s) __attribute__((cold));
void gt_execlog_start_within(struct gt_execlog_stream *s, const struct gt_execlog_block *b,
                             uint32_t i) __attribute__((cold));

enum gt_execlog_event {
    GT_EXECLOG_VALUE = 0x00,  /* 0000llll: the value of the access before */
    GT_EXECLOG_STOP = 0x10,   /* number: how many instructions of the block have started */
    GT_EXECLOG_WITHIN = 0x11, /* id, index: a block that starts at that instruction */
    GT_EXECLOG_RESUME =
        0x12, /* id, index: the instruction of the waiting line; only first in a buffer */
    GT_EXECLOG_DEVICE = 0x13, /* number: the device of the accesses that follow */
    GT_EXECLOG_LINE = 0x14,   /* the waiting line is complete, unless it is empty */
    GT_EXECLOG_LAST = 0x15,   /* the last line is complete, even if it is empty; or the line of
                                 COMPLETE, printed again */
    GT_EXECLOG_COMPLETE =
        0x16, /* number: how many more have started; the newest line is complete */
    GT_EXECLOG_REGISTER = 0x20, /* 001rrrrr, aaaallll */
    GT_EXECLOG_BLOCK = 0x40,    /* 01iiiiii */
    GT_EXECLOG_ACCESS = 0x80,   /* 1saaalll */
};

/* Writes a number with seven bits a byte, the low bits first. */
static inline uint8_t *gt_execlog_put_number(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* Moves the sign to the lowest bit, so that small differences of both signs are small numbers. */
static inline uint64_t gt_execlog_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

/* Returns how many bytes v needs, 0 to 8. */
static inline unsigned gt_execlog_bytes(uint64_t v)
{
    return v ? (71 - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

static inline void gt_execlog_store64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

/* Writes a block event: 010iiiii i8, 0110iiii i16, 01110iii i24 or 01111000 i32; the high bits
 * first. */
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

/* Instruction i of the current block has started, and so have those before it. */
static inline void gt_execlog_reach(struct gt_execlog_stream *s, uint32_t i)
{
    if (!s->stopped && i > s->index && i < s->under.n)
        s->index = i;
}

/* The first n instructions of the current block have started, and no further one will: an exception
 * or an interrupt has left the block. Without this call all instructions count as started when
 * another block starts. */
static inline void gt_execlog_stop(struct gt_execlog_stream *s, uint32_t n)
{
    if (s->stopped || n >= s->under.n)
        return;
    if (__builtin_expect(s->at > s->end, 0))
        gt_execlog_next_buffer(s);
    if (n <= s->encoded)
        n = s->encoded + 1;
    *s->at++ = GT_EXECLOG_STOP;
    s->at = gt_execlog_put_number(s->at, n);
    s->index = s->encoded = n - 1;
    s->stopped = true;
}

/* The first instruction of a block starts. */
static inline void gt_execlog_start(struct gt_execlog_stream *s, const struct gt_execlog_block *b)
{
    if (__builtin_expect(s->end - s->at < GT_EXECLOG_SPARE, 0))
        gt_execlog_next_block(s);
    s->under = *b;
    s->index = s->encoded = 0;
    s->stopped = s->by_insn = false;
    s->at = gt_execlog_put_block(s->at, b->id);
}

/* For callers with a callback for each instruction: from to to - 1 of the block have started, in
 * order. Instructions of the current block that were not reported this way did not start. */
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

/* The events below, until the next start, belong to the waiting line; or to the line of instruction
 * i of the current block, if that is a later one. */

/* Sets the device of the accesses that follow: a number of gt_execlog_define_device, or 0: no
 * device. */
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
    uint32_t steps = s->index - s->encoded;
    uint8_t *p = s->at;
    *p++ = (uint8_t)(GT_EXECLOG_ACCESS | store << 6 | (steps < 7 ? steps : 7) << 3 | code);
    if (__builtin_expect(steps >= 7, 0))
        p = gt_execlog_put_number(p, steps - 7);
    gt_execlog_store64(p, v);
    s->at = p + n + (n == 7);
    s->encoded = s->index;
}

/* The value of the previous access, low half first; size is 1 to 16 bytes. Only for logs with
 * `values`. */
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

/* A register has a new value: its bytes, the lowest first. `reg` is the number that
 * gt_execlog_define_register returned for its name and this size. */
void gt_execlog_register(struct gt_execlog_stream *s, uint32_t i, uint32_t reg,
                         const uint8_t *value, size_t size);

#endif
