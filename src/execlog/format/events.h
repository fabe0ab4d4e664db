/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk through the events of one buffer, for the writer and the reader: it calls a visitor with
 * the effect of each event on the vCPU's waiting line. Every event is checked.
 *
 *   access    1saaalll           l: 0 to 6, or 7 for 8 bytes of folded difference; s: store
 *   block     01iiiiii ...       see gt_execlog_put_block
 *   register  001rrrrr aaaallll  r = 31: + number; l: 0 to 8 bytes of folded difference, or
 *                                15: number n, n bytes
 *   value     0000llll           l: 0 to 8 bytes of folded difference, or 15: 16 bytes
 *   others    0001xxxx, numbers  enum gt_execlog_event
 *
 * a: number of instructions of the block that have started since the previous event; 7 or 15: +
 * number. A number follows the byte that it belongs to; the number of r comes before aaaallll.
 *
 * The visitor is a constant table and the walk is inlined: the compiler makes a loop of its own for
 * each caller.
 */
#ifndef GT_EXECLOG_FORMAT_EVENTS_H
#define GT_EXECLOG_FORMAT_EVENTS_H

#include "execlog/format/chunk.h"

/* The walk may read this many bytes beyond the events. */
enum { GT_EXECLOG_PADDING = 32 };

struct gt_execlog_change {
    uint32_t reg;
    const uint8_t *bytes; /* the lowest byte first */
    uint32_t size;        /* 0: the new value is in `value` and has the register's defined size */
    uint64_t value;
};

struct gt_execlog_visitor {
    /* Returns the block; NULL: unknown. */
    const struct gt_execlog_block *(*find)(void *self, uint32_t id);
    /* Instructions from to to - 1 start, in order. */
    void (*start)(void *self, const struct gt_execlog_block *b, uint32_t from, uint32_t to);
    /* The waiting line is the line of instruction i. */
    void (*resume)(void *self, const struct gt_execlog_block *b, uint32_t i);
    /* The waiting line is complete. `last`: it is the vCPU's last line: printed even if it is
     * empty, and printed again if it was complete before. */
    void (*line)(void *self, bool last);
    void (*complete)(void *self);
    /* An access or a register's change; false: the device or register is not defined. */
    bool (*access)(void *self, bool store, uint64_t address, uint32_t device);
    bool (*change)(void *self, const struct gt_execlog_change *c);
    void (*value)(void *self, const uint64_t value[2], bool wide);
};

struct gt_execlog_walk {
    const struct gt_execlog_visitor *visitor;
    void *self;
    const uint8_t *p, *end;
    const struct gt_execlog_block *under; /* the current block; NULL: none yet */
    uint32_t first,
        n; /* number of its first instruction in the log; how many of its instructions can start */
    uint32_t index, device, slot;
    uint64_t addresses[GT_EXECLOG_SLOTS], values[GT_EXECLOG_SLOTS];
    uint64_t registers[GT_EXECLOG_MAX_REGISTERS];
};

static inline uint64_t gt_execlog_unfold(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Reads a number of n bytes, 0 to 8. */
static inline uint64_t gt_execlog_read(const uint8_t *p, unsigned n)
{
    uint64_t v = gt_bytes_le64(p);
    return n >= 8 ? v : v & ((UINT64_C(1) << (8 * n)) - 1);
}

/* Reads a number of at most 32 bits; a longer one ends the walk. */
static inline uint32_t gt_execlog_walk_number(struct gt_execlog_walk *k)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        uint8_t byte = *k->p++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80 && v <= UINT32_MAX)
            return (uint32_t)v;
    }
    k->p = k->end + 1;
    return 0;
}

/* Starts the instructions of the current block up to `index`; false: they cannot start. */
static inline bool gt_execlog_walk_to(struct gt_execlog_walk *k, uint64_t index)
{
    if (index == k->index)
        return true;
    if (index >= k->n || index < k->index)
        return false;
    k->visitor->start(k->self, k->under, k->index + 1, (uint32_t)index + 1);
    k->index = (uint32_t)index;
    return true;
}

static inline void gt_execlog_walk_rest(struct gt_execlog_walk *k)
{
    if (k->index + 1 < k->n)
        k->visitor->start(k->self, k->under, k->index + 1, k->n);
    k->index = k->n - 1;
}

static inline bool gt_execlog_walk_enter(struct gt_execlog_walk *k, uint32_t id, uint32_t index,
                                         bool start)
{
    const struct gt_execlog_block *b = k->visitor->find(k->self, id);
    if (start)
        gt_execlog_walk_rest(k);
    if (!b || index >= b->n)
        return false;
    k->under = b;
    k->first = b->first;
    k->n = b->n;
    k->index = index;
    if (start)
        k->visitor->start(k->self, b, index, index + 1);
    return true;
}

static inline bool gt_execlog_walk_block(struct gt_execlog_walk *k)
{
    uint32_t word;
    memcpy(&word, k->p, sizeof word);
    word = be32toh(word);
    unsigned n = 2;
    uint32_t id = word >> 16 & 0x1fff;
    if (__builtin_expect(word >> 29 != 2, 0)) {
        if (word >> 28 == 6) {
            id = word >> 8 & 0xfffff;
            n = 3;
        } else if (word >> 27 == 0xe) {
            id = word & 0x7ffffff;
            n = 4;
        } else {
            memcpy(&word, k->p + 1, sizeof word);
            id = be32toh(word);
            n = 5;
        }
    }
    k->p += n;
    return gt_execlog_walk_enter(k, id, 0, true);
}

static inline bool gt_execlog_walk_access(struct gt_execlog_walk *k, uint8_t lead)
{
    unsigned steps = lead >> 3 & 7, n = lead & 7;
    uint64_t index = (uint64_t)k->index + steps;
    k->p++;
    if (steps == 7)
        index += gt_execlog_walk_number(k);
    if (steps && !gt_execlog_walk_to(k, index))
        return false;
    n += n == 7;
    uint64_t v = gt_execlog_read(k->p, n);
    k->p += n;
    k->slot = (k->first + k->index) % GT_EXECLOG_SLOTS;
    uint64_t *last = &k->addresses[k->slot];
    *last += gt_execlog_unfold(v);
    return k->visitor->access(k->self, lead >> 6 & 1, *last, k->device);
}

static inline bool gt_execlog_walk_value(struct gt_execlog_walk *k, uint8_t lead)
{
    uint64_t value[2] = {0};
    unsigned n = lead & 15;
    k->p++;
    if (n == 15) {
        value[0] = gt_bytes_le64(k->p);
        value[1] = gt_bytes_le64(k->p + 8);
        k->p += 16;
    } else if (n <= 8) {
        uint64_t *last = &k->values[k->slot];
        value[0] = *last += gt_execlog_unfold(gt_execlog_read(k->p, n));
        k->p += n;
    } else {
        return false;
    }
    if (k->p > k->end)
        return false;
    k->visitor->value(k->self, value, n == 15);
    return true;
}

static inline bool gt_execlog_walk_register(struct gt_execlog_walk *k, uint8_t lead)
{
    struct gt_execlog_change c = {.reg = lead & 31};
    k->p++;
    if (c.reg == 31)
        c.reg += gt_execlog_walk_number(k);
    unsigned form = *k->p++, n = form & 15;
    uint64_t index = (uint64_t)k->index + (form >> 4);
    if (form >> 4 == 15)
        index += gt_execlog_walk_number(k);
    if (k->p > k->end || c.reg >= GT_EXECLOG_MAX_REGISTERS || !gt_execlog_walk_to(k, index))
        return false;
    if (n == 15) {
        c.size = gt_execlog_walk_number(k);
        if (k->p > k->end || c.size == 0 || c.size > (size_t)(k->end - k->p))
            return false;
        c.bytes = k->p;
        k->p += c.size;
    } else if (n <= 8) {
        c.value = k->registers[c.reg] += gt_execlog_unfold(gt_execlog_read(k->p, n));
        k->p += n;
    } else {
        return false;
    }
    return k->p <= k->end && k->visitor->change(k->self, &c);
}

static inline bool gt_execlog_walk_resume(struct gt_execlog_walk *k, bool first)
{
    uint32_t id = gt_execlog_walk_number(k), index = gt_execlog_walk_number(k);
    if (!first || k->p > k->end)
        return false;
    if (id == 0)
        return true;
    if (!gt_execlog_walk_enter(k, id, index, false))
        return false;
    k->visitor->resume(k->self, k->under, index);
    return true;
}

static inline bool gt_execlog_walk_other(struct gt_execlog_walk *k, uint8_t lead, bool first)
{
    uint32_t n;
    k->p++;
    switch (lead) {
    case GT_EXECLOG_STOP:
        n = gt_execlog_walk_number(k);
        if (k->p > k->end || n == 0 || n > k->n || n <= k->index)
            return false;
        gt_execlog_walk_to(k, n - 1);
        k->n = n;
        return true;
    case GT_EXECLOG_WITHIN:
        n = gt_execlog_walk_number(k);
        return gt_execlog_walk_enter(k, n, gt_execlog_walk_number(k), true) && k->p <= k->end;
    case GT_EXECLOG_RESUME:
        return gt_execlog_walk_resume(k, first);
    case GT_EXECLOG_DEVICE:
        k->device = gt_execlog_walk_number(k);
        return k->p <= k->end;
    case GT_EXECLOG_LINE:
    case GT_EXECLOG_LAST:
        gt_execlog_walk_rest(k);
        k->visitor->line(k->self, lead == GT_EXECLOG_LAST);
        return true;
    case GT_EXECLOG_COMPLETE:
        n = gt_execlog_walk_number(k);
        if (k->p > k->end || !gt_execlog_walk_to(k, (uint64_t)k->index + n))
            return false;
        k->visitor->complete(k->self);
        return true;
    default:
        return false;
    }
}

static inline bool gt_execlog_walk_event(struct gt_execlog_walk *k, bool first)
{
    uint8_t lead = *k->p;
    if (lead & GT_EXECLOG_ACCESS)
        return gt_execlog_walk_access(k, lead);
    if (lead & GT_EXECLOG_BLOCK)
        return gt_execlog_walk_block(k);
    if (lead & GT_EXECLOG_REGISTER)
        return gt_execlog_walk_register(k, lead);
    if (lead < GT_EXECLOG_STOP)
        return gt_execlog_walk_value(k, lead);
    return gt_execlog_walk_other(k, lead, first);
}

/* Walks through n bytes of events, which are followed by GT_EXECLOG_PADDING readable bytes. Returns
 * n, or the offset of the first invalid event. */
static inline __attribute__((always_inline)) size_t
gt_execlog_walk(struct gt_execlog_walk *k, const struct gt_execlog_visitor *visitor, void *self,
                const uint8_t *events, size_t n)
{
    memset(k, 0, sizeof *k);
    k->visitor = visitor;
    k->self = self;
    k->p = events;
    k->end = events + n;
    k->index = UINT32_MAX;
    while (k->p < k->end) {
        const uint8_t *at = k->p;
        if (!gt_execlog_walk_event(k, at == events) || k->p > k->end)
            return (size_t)(at - events);
    }
    return n;
}

#endif
