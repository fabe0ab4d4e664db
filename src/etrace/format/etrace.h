/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The etrace stream (docs/formats/etrace.md), reader and writer: a sequence of packets that records
 * which code a machine ran and which memory it accessed. All numbers are little-endian.
 *
 * Writing: gt_etrace_put_* append one packet each to a latched writer (base/bytes.h). gt_etrace_run
 * collects execution entries of one unit and merges adjacent ones. Reading: a reader over any
 * source of bytes returns the packets in order; its memory is bounded by the largest packet
 * allowed. Every field of a stream is checked before use.
 */
#ifndef GT_ETRACE_FORMAT_ETRACE_H
#define GT_ETRACE_FORMAT_ETRACE_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/refill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_etrace_type {
    GT_ETRACE_EXEC = 1,
    GT_ETRACE_TB = 2,
    GT_ETRACE_NOTE = 3,
    GT_ETRACE_MEM = 4,
    GT_ETRACE_ARCH = 5,
    GT_ETRACE_BARRIER = 6,
    GT_ETRACE_EVENT_OLD = 7, /* read, never written */
    GT_ETRACE_EVENT = 8,
    GT_ETRACE_INFO = 0x4554,
};

enum {
    GT_ETRACE_HEADER = 8,
    GT_ETRACE_MAX_BODY = 2 << 20, /* larger packets are refused by existing readers */
    GT_ETRACE_NAME_MAX = 4095, /* bytes of a device's or event's name, without the NUL; the writer
                                  cuts longer names */
};

struct gt_etrace_info {
    uint64_t attr; /* bit 0: blocks were chained, EXEC is incomplete */
    uint16_t major, minor;
};

struct gt_etrace_arch_side {
    uint32_t id;        /* ELF e_machine; 0: unknown */
    uint8_t bits;       /* 32 or 64; 0: unknown, for a host only */
    uint8_t big_endian; /* 1; 0: little-endian, or unknown */
};

struct gt_etrace_arch {
    struct gt_etrace_arch_side guest, host;
};

/* [start, end) ran, for `duration` of the stream's time. */
struct gt_etrace_entry {
    uint32_t duration;
    uint64_t start, end;
};

struct gt_etrace_tb {
    uint64_t vaddr, paddr, host_addr;
    const uint8_t *guest_code, *host_code;
    uint32_t guest_len, host_len;
};

struct gt_etrace_mem {
    uint64_t time, vaddr, paddr, value;
    bool write;
    uint8_t size; /* bytes */
};

struct gt_etrace_event {
    uint32_t flags;
    uint16_t unit;
    uint64_t time, value, previous;
    const char *device, *name; /* NUL-terminated */
};

struct gt_etrace_note {
    uint64_t time;
    const char *text; /* `len` bytes without a NUL. A line ends with a newline, which may come in a
                         later note of the unit; readers print the bytes unchanged */
    uint32_t len;
};

/* ---- writing ------------------------------------------------------------------------------- */

/* A packet is written completely or not at all: if it does not fit, the writer's position is
 * unchanged. */
void gt_etrace_put_info(struct gt_bytes_writer *w, const struct gt_etrace_info *info);
void gt_etrace_put_arch(struct gt_bytes_writer *w, const struct gt_etrace_arch *arch);
void gt_etrace_put_barrier(struct gt_bytes_writer *w, uint16_t unit);
/* Latches if the packet would exceed GT_ETRACE_MAX_BODY, as do the functions below. */
void gt_etrace_put_tb(struct gt_bytes_writer *w, uint16_t unit, const struct gt_etrace_tb *tb);
void gt_etrace_put_note(struct gt_bytes_writer *w, uint16_t unit,
                        const struct gt_etrace_note *note);
void gt_etrace_put_mem(struct gt_bytes_writer *w, uint16_t unit, const struct gt_etrace_mem *mem);
void gt_etrace_put_event(struct gt_bytes_writer *w, const struct gt_etrace_event *event);

/* Execution entries of one unit, collected as the bytes of one EXEC packet. The caller owns the
 * memory. */
struct gt_etrace_run {
    uint8_t *packet;   /* header, start time, entries */
    size_t room, fill; /* bytes of packet; fill 0: the packet is not begun */
    uint64_t end_time; /* end time of the newest entry */
    uint16_t unit;
    uint8_t bits; /* 32 or 64 */
};

/* `room` is at least 64 and at most GT_ETRACE_HEADER + GT_ETRACE_MAX_BODY bytes. */
void gt_etrace_run_init(struct gt_etrace_run *r, void *packet, size_t room, uint16_t unit,
                        unsigned bits);
/* [start, end) ran from `time` to `until`. An entry that continues the newest one within a page of
 * 4 KiB is merged with it, unless the duration would exceed 32 bits; an entry whose own duration
 * exceeds 32 bits is followed by empty entries, [end, end), for the rest of the time. False: there
 * is no room, or `time` is not the end of the newest entry; nothing was added. Then take the packet
 * and add again: an empty run always accepts. */
bool gt_etrace_run_add(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint64_t time,
                       uint64_t until);
/* Completes the packet and empties the run. Returns the packet's size in bytes, header included; 0:
 * the run has no entries. */
size_t gt_etrace_run_take(struct gt_etrace_run *r);

/* ---- reading ------------------------------------------------------------------------------- */

struct gt_etrace_packet {
    uint64_t offset; /* offset of the header in the stream */
    uint16_t type, unit;
    uint32_t len;
    const uint8_t *body; /* valid until the next packet is read */
};

struct gt_etrace_reader;

/* Creates a reader; `name` is for messages and is copied. GT_E_NOMEM. */
int gt_etrace_reader_create(gt_bytes_refill_fn read, void *self, const char *name,
                            struct gt_etrace_reader **out, struct gt_error *err);
void gt_etrace_reader_destroy(struct gt_etrace_reader *r); /* NULL is fine */

/* Reads the next packet, of a known or unknown type, as soon as it is complete. Returns 1, or 0 at
 * the end. The first packet must be INFO. GT_E_TRUNC: the stream ends within a packet; GT_E_FORMAT:
 * a packet is too long, or this is not an etrace stream; GT_E_IO. The message has the offset; later
 * calls fail with the same error. */
int gt_etrace_next(struct gt_etrace_reader *r, struct gt_etrace_packet *out, struct gt_error *err);

/* The stream's ARCH packet; before it is read both sides have 64 bits and an unknown id. */
const struct gt_etrace_arch *gt_etrace_reader_arch(const struct gt_etrace_reader *r);

/* Decode a packet's body. GT_E_FORMAT; the message has the name, the offset, the value and the
 * expected one. Returned pointers point into the packet. gt_etrace_get_event decodes EVENT and
 * EVENT_OLD. */
int gt_etrace_get_info(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_info *out, struct gt_error *err);
int gt_etrace_get_arch(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_arch *out, struct gt_error *err);
int gt_etrace_get_tb(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                     struct gt_etrace_tb *out, struct gt_error *err);
int gt_etrace_get_note(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_note *out, struct gt_error *err);
int gt_etrace_get_mem(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                      struct gt_etrace_mem *out, struct gt_error *err);
int gt_etrace_get_event(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                        struct gt_etrace_event *out, struct gt_error *err);

/* The entries of an EXEC packet: `n` entries with addresses of `bits` bits; the first begins at
 * `start_time`. */
struct gt_etrace_exec {
    uint64_t start_time;
    const uint8_t *entries;
    size_t n;
    unsigned bits;
};
int gt_etrace_get_exec(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_exec *out, struct gt_error *err);

/* Bytes of an execution entry of a guest of 32 or 64 bits. */
static inline size_t gt_etrace_entry_size(unsigned bits)
{
    return bits == 32 ? 12 : 20;
}

/* Returns entry i < n. The host must be little-endian. */
static inline struct gt_etrace_entry gt_etrace_entry_at(const struct gt_etrace_exec *x, size_t i)
{
    struct gt_etrace_entry e;
    if (x->bits == 32) {
        uint32_t w[3];
        __builtin_memcpy(w, x->entries + i * sizeof w, sizeof w);
        e = (struct gt_etrace_entry){w[0], w[1], w[2]};
    } else {
        const uint8_t *at = x->entries + i * 20;
        __builtin_memcpy(&e.duration, at, 4);
        __builtin_memcpy(&e.start, at + 4, 8);
        __builtin_memcpy(&e.end, at + 12, 8);
    }
    return e;
}

#endif
