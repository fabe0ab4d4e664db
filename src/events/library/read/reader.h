/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The structs of a reader of simpletrace files: see guesttrace/simpletrace.h. */
#ifndef GT_EVENTS_LIBRARY_READ_READER_H
#define GT_EVENTS_LIBRARY_READ_READER_H

#include "events/library/read/simpletrace.h"

#include <guesttrace/error.h>
#include <guesttrace/simpletrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The events of the ids in a trace: a hash table of the mappings read so far. */

struct gt_events_id {
    uint64_t id;
    const struct gt_trace_declaration *event; /* NULL: not declared */
    char *name;                               /* the name of an event that is not declared */
    bool used, reported; /* reported: a problem with its records was reported */
};

struct gt_events_ids {
    struct gt_events_id *slots; /* mask + 1 slots, a power of two, at most three quarters used */
    size_t mask, used;
    uint64_t seed; /* random, so that a trace cannot make all ids collide */
};

static inline size_t gt_events_ids_place(const struct gt_events_ids *ids, uint64_t id)
{
    uint64_t x = (id ^ ids->seed) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(x >> 32) & ids->mask;
}

/* Returns the slot of an id; NULL: never mapped. */
static inline struct gt_events_id *gt_events_ids_find(const struct gt_events_ids *ids, uint64_t id)
{
    if (!ids->slots)
        return NULL;
    size_t at = gt_events_ids_place(ids, id);
    while (ids->slots[at].used && ids->slots[at].id != id)
        at = (at + 1) & ids->mask;
    return ids->slots[at].used ? &ids->slots[at] : NULL;
}

/* Maps an id, or maps it again. The name has n bytes and is copied if `event` is NULL.
 * GT_TRACE_E_NOMEM. */
int gt_events_ids_map(struct gt_events_ids *ids, uint64_t id,
                      const struct gt_trace_declaration *event, const char *name, size_t n);
void gt_events_ids_free(struct gt_events_ids *ids);

/*
 * Buffered input of a trace: a file, or a pipe whose writer is running.
 *
 * Files are read, not mapped: a traced program may truncate its file while it is read.
 */

struct gt_events_input {
    const char *path; /* the caller's string */
    int fd;
    bool own, ended;
    uint8_t *data; /* `room` bytes; the unread ones are from start to end */
    size_t start, end, room;
    uint64_t offset;                 /* offset of `start` in the file */
    void (*before_wait)(void *self); /* NULL: no call */
    void *self;
};

/* "-" is standard input. GT_TRACE_E_IO, GT_TRACE_E_NOT_FOUND, GT_TRACE_E_NOMEM. */
int gt_events_input_open(struct gt_events_input *in, const char *path, struct gt_trace_error *err);
void gt_events_input_close(struct gt_events_input *in);

static inline size_t gt_events_input_left(const struct gt_events_input *in)
{
    return in->end - in->start;
}

/* Reads until n bytes are buffered: 1, or 0 if the file ends before; GT_TRACE_E_IO,
 * GT_TRACE_E_NOMEM. Buffered bytes may move. */
int gt_events_input_need(struct gt_events_input *in, size_t n, struct gt_trace_error *err);

static inline void gt_events_input_take(struct gt_events_input *in, size_t n)
{
    in->start += n;
    in->offset += n;
}

/* The callbacks of events: a list for each declaration. */
struct gt_events_call {
    gt_trace_callback callback;
    void *self;
    size_t next; /* index of the next one in `calls`, from 1; 0: none */
};

struct gt_events_calls {
    struct gt_events_call *calls;
    size_t n, room;
    size_t *first; /* first callback of each declaration, from 1; 0: none; NULL: there are no
                      callbacks at all */
    size_t *last;
};

struct gt_trace_reader {
    const struct gt_trace_declarations *declared;
    struct gt_events_input in;
    struct gt_events_simpletrace_order order;
    struct gt_events_ids ids;
    struct gt_events_ids unmapped; /* ids without a mapping that were reported */
    struct gt_events_id dropped;
    struct gt_trace_record record;
    struct gt_trace_value values[GT_TRACE_VALUES_MAX];
    struct gt_events_calls calls;
    uint64_t skipped;
    bool ended;
};

#endif
