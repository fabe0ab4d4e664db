/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of a simpletrace file as values of declared arguments: see guesttrace/simpletrace.h.
 *
 * Each record has its length, so that a record of an undeclared event can be skipped. The payload
 * must match the declaration exactly.
 */
#include "events/library/read/reader.h"

#include "events/library/message.h"
#include "events/library/read/declarations.h"

#include <errno.h>
#include <fcntl.h>
#include <guesttrace/control.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Goes on reading? `status` is final. */
static int finish(struct gt_trace_reader *r, int status)
{
    r->ended = true;
    return status;
}

static int read_header(struct gt_trace_reader *r, struct gt_trace_error *err)
{
    struct gt_events_input *in = &r->in;
    int status = gt_events_input_need(in, GT_SIMPLETRACE_FILE_HEADER_SIZE, err);
    if (status < 0)
        return status;
    size_t left = gt_events_input_left(in);
    status = gt_events_simpletrace_get_file_header(in->data + in->start, left, &r->order);
    if (status == GT_SIMPLETRACE_SHORT)
        return gt_events_fail(err, GT_TRACE_E_TRUNC,
                              "%s: no simpletrace file: %zu bytes, its header alone has %d",
                              in->path, left, GT_SIMPLETRACE_FILE_HEADER_SIZE);
    if (status == GT_SIMPLETRACE_BAD_MAGIC)
        return gt_events_fail(err, GT_TRACE_E_FORMAT,
                              "%s: no simpletrace file: begins with %016" PRIx64 " %016" PRIx64
                              ", expected %016" PRIx64 " %016" PRIx64,
                              in->path, gt_events_simpletrace_get_u64(in->data + in->start, false),
                              gt_events_simpletrace_get_u64(in->data + in->start + 8, false),
                              GT_SIMPLETRACE_HEADER_ID, GT_SIMPLETRACE_MAGIC);
    if (status == GT_SIMPLETRACE_BAD_VERSION)
        return gt_events_fail(err, GT_TRACE_E_UNSUPPORTED,
                              "%s: simpletrace version %" PRIu64 ", expected %" PRIu64, in->path,
                              r->order.version, GT_SIMPLETRACE_VERSION);
    gt_events_input_take(in, GT_SIMPLETRACE_FILE_HEADER_SIZE);
    return 0;
}

/* Ids are places in the declarations. */
static int map_places(struct gt_trace_reader *r, struct gt_trace_error *err)
{
    size_t n = gt_trace_declarations_count(r->declared);
    int status = 0;
    r->order.version = GT_SIMPLETRACE_VERSION;
    for (size_t i = 0; i < n && status == 0; i++)
        status = gt_events_ids_map(&r->ids, i, gt_trace_declarations_at(r->declared, i), NULL, 0);
    return status ? gt_events_fail(err, status, "%s: out of memory", r->in.path) : 0;
}

int gt_trace_reader_open(struct gt_trace_reader **out, const char *path,
                         const struct gt_trace_declarations *d,
                         const struct gt_trace_reader_options *options, struct gt_trace_error *err)
{
    *out = NULL;
    struct gt_trace_reader *r = calloc(1, sizeof *r);
    if (!r)
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", path);
    r->declared = d;
    int status = gt_events_input_open(&r->in, path, err);
    if (status == 0 && options) {
        r->in.before_wait = options->before_wait;
        r->in.self = options->self;
    }
    if (status == 0)
        status = options && options->no_header ? map_places(r, err) : read_header(r, err);
    if (status < 0) {
        gt_trace_reader_close(r);
        return status;
    }
    *out = r;
    return 0;
}

static void free_calls(struct gt_events_calls *c)
{
    free(c->calls);
    free(c->first);
    free(c->last);
}

void gt_trace_reader_close(struct gt_trace_reader *r)
{
    if (!r)
        return;
    gt_events_input_close(&r->in);
    gt_events_ids_free(&r->ids);
    gt_events_ids_free(&r->unmapped);
    free_calls(&r->calls);
    free(r);
}

uint64_t gt_trace_reader_skipped(const struct gt_trace_reader *r)
{
    return r->skipped;
}

static int map_name(struct gt_trace_reader *r, const struct gt_events_simpletrace_item *item,
                    struct gt_trace_error *err)
{
    const char *name = (const char *)item->data;
    const struct gt_trace_declaration *event = gt_events_find(r->declared, name, item->size);
    if (event && event->line == 0)
        event = NULL; /* Dropped_Event has an id of its own */
    int status = gt_events_ids_map(&r->ids, item->id, event, name, item->size);
    return status < 0 ? gt_events_fail(err, status, "%s: out of memory", r->in.path) : 0;
}

/* Whether the payload is just these arguments. */
static bool get_values(struct gt_trace_reader *r, const struct gt_events_simpletrace_item *item,
                       const struct gt_trace_argument *arguments, unsigned n)
{
    const uint8_t *at = item->data;
    size_t left = item->size;
    bool swapped = r->order.swapped;
    for (unsigned i = 0; i < n; i++) {
        struct gt_trace_value *v = &r->values[i];
        if (arguments[i].kind != GT_TRACE_STRING) {
            if (left < 8)
                return false;
            *v = (struct gt_trace_value){gt_events_simpletrace_get_u64(at, swapped), NULL};
            at += 8;
            left -= 8;
            continue;
        }
        if (left < 4)
            return false;
        uint32_t length = gt_events_simpletrace_get_u32(at, swapped);
        at += 4;
        left -= 4;
        if (left < length)
            return false;
        *v = (struct gt_trace_value){length, (const char *)at};
        at += length;
        left -= length;
    }
    r->record.n_values = n;
    r->record.arguments = arguments;
    return left == 0;
}

/* Has the record whose event is known: 1, or 0 if its payload is another. */
static int get_values_of(struct gt_trace_reader *r, const struct gt_events_simpletrace_item *item,
                         const struct gt_trace_declaration *d)
{
    if (!get_values(r, item, d->arguments, d->n_arguments) &&
        !(d->vcpu && get_values(r, item, gt_events_vcpu_arguments(d), d->n_arguments + 1)))
        return 0;
    r->record.event = d;
    r->record.timestamp = item->timestamp;
    r->record.tid = item->tid;
    r->record.pid = item->pid;
    r->record.values = r->values;
    return 1;
}

/* Passes over a record: 0 if that was reported before, else GT_TRACE_E_RANGE with the message. */
static int skip(struct gt_trace_reader *r, const struct gt_events_simpletrace_item *item,
                struct gt_events_id *id, struct gt_trace_error *err)
{
    const char *path = r->in.path;
    uint64_t offset = r->record.offset;
    r->skipped++;
    if (!id) {
        if (gt_events_ids_map(&r->unmapped, item->id, NULL, "", 0) < 0)
            return finish(r, gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", path));
        id = gt_events_ids_find(&r->unmapped, item->id);
        if (id->reported)
            return 0;
        gt_events_fail(err, 0,
                       "%s: offset %" PRIu64 ": event id %" PRIu64 " was not mapped to a name",
                       path, offset, item->id);
    } else if (id->reported) {
        return 0;
    } else if (!id->event) {
        gt_events_fail(err, 0,
                       "%s: offset %" PRIu64 ": event '%s' is not declared in the events file",
                       path, offset, id->name);
    } else {
        gt_events_fail(err, 0,
                       "%s: offset %" PRIu64 ": %" PRIu32
                       " bytes of payload are not the arguments that '%s' is declared with",
                       path, offset, item->size, id->event->name);
    }
    id->reported = true;
    if (err)
        err->status = GT_TRACE_E_RANGE;
    return GT_TRACE_E_RANGE;
}

static const struct gt_events_id *dropped_id(struct gt_trace_reader *r)
{
    r->dropped.event =
        gt_trace_declarations_at(r->declared, gt_trace_declarations_count(r->declared));
    return &r->dropped;
}

/* What get_record said instead of a size: 1 for more bytes, 0 for the end, or the error. */
static int get_more(struct gt_trace_reader *r, int status,
                    const struct gt_events_simpletrace_item *item, size_t need,
                    struct gt_trace_error *err)
{
    struct gt_events_input *in = &r->in;
    if (status == GT_SIMPLETRACE_BAD_TYPE)
        return gt_events_fail(err, GT_TRACE_E_FORMAT,
                              "%s: offset %" PRIu64 ": record of type %" PRIu64
                              ", expected 0 (mapping) or 1 (event)",
                              in->path, in->offset, item->type);
    if (status == GT_SIMPLETRACE_BAD_LENGTH)
        return gt_events_fail(err, GT_TRACE_E_FORMAT,
                              "%s: offset %" PRIu64 ": %s of length %" PRIu32 ", expected %d to %d",
                              in->path, in->offset, item->type ? "event" : "name", item->length,
                              item->type ? GT_SIMPLETRACE_EVENT_COUNTED : 0,
                              item->type ? GT_SIMPLETRACE_LENGTH_LIMIT : GT_SIMPLETRACE_NAME_LIMIT);
    status = gt_events_input_need(in, need, err);
    size_t left = gt_events_input_left(in);
    if (status != 0 || left == 0)
        return status;
    return gt_events_fail(
        err, GT_TRACE_E_TRUNC,
        "%s: offset %" PRIu64 ": the file ends within a record: %zu bytes of %s%zu", in->path,
        in->offset, left, need < GT_SIMPLETRACE_MAPPING_HEADER_SIZE ? "at least " : "", need);
}

int gt_trace_reader_next(struct gt_trace_reader *r, const struct gt_trace_record **record,
                         struct gt_trace_error *err)
{
    struct gt_events_input *in = &r->in;
    *record = NULL;
    while (!r->ended) {
        struct gt_events_simpletrace_item item;
        size_t need;
        int status = gt_events_simpletrace_get_record(
            in->data + in->start, gt_events_input_left(in), &r->order, &item, &need);
        if (status <= 0) {
            status = get_more(r, status, &item, need, err);
            if (status <= 0)
                return finish(r, status);
            continue;
        }
        r->record.offset = in->offset;
        gt_events_input_take(in, (size_t)status);
        if (item.type == GT_SIMPLETRACE_MAPPING) {
            status = map_name(r, &item, err);
            if (status < 0)
                return finish(r, status);
            continue;
        }
        const struct gt_events_id *id = item.id == GT_SIMPLETRACE_DROPPED_ID
                                            ? dropped_id(r)
                                            : gt_events_ids_find(&r->ids, item.id);
        if (id && id->event && get_values_of(r, &item, id->event)) {
            *record = &r->record;
            return 1;
        }
        status = skip(r, &item, (struct gt_events_id *)id, err);
        if (status < 0)
            return status;
    }
    return 0;
}

/* The callbacks of analyses: see guesttrace/simpletrace.h. */

static bool make_room(struct gt_events_calls *c, size_t more, size_t events)
{
    if (!c->first)
        c->first = calloc(events, sizeof *c->first);
    if (!c->last)
        c->last = calloc(events, sizeof *c->last);
    if (!c->first || !c->last)
        return false;
    if (c->room - c->n >= more)
        return true;
    size_t room = 2 * c->room + more;
    struct gt_events_call *calls = reallocarray(c->calls, room, sizeof *calls);
    if (!calls)
        return false;
    c->calls = calls;
    c->room = room;
    return true;
}

static void add(struct gt_events_calls *c, size_t event, gt_trace_callback callback, void *self)
{
    c->calls[c->n++] = (struct gt_events_call){callback, self, 0};
    if (c->last[event])
        c->calls[c->last[event] - 1].next = c->n;
    else
        c->first[event] = c->n;
    c->last[event] = c->n;
}

int gt_trace_reader_on(struct gt_trace_reader *r, const char *pattern, gt_trace_callback callback,
                       void *self, struct gt_trace_error *err)
{
    size_t events = gt_trace_declarations_count(r->declared) + 1, found = 0;
    for (size_t i = 0; i < events; i++)
        found += gt_trace_match(pattern, gt_trace_declarations_at(r->declared, i)->name);
    if (!found)
        return gt_events_fail(err, GT_TRACE_E_NOT_FOUND, "no declared event matches '%s'", pattern);
    if (!make_room(&r->calls, found, events))
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < events; i++)
        if (gt_trace_match(pattern, gt_trace_declarations_at(r->declared, i)->name))
            add(&r->calls, i, callback, self);
    return 0;
}

static int call(const struct gt_events_calls *c, const struct gt_trace_record *record)
{
    int status = 0;
    for (size_t i = c->first ? c->first[record->event->index] : 0; i && status == 0;
         i = c->calls[i - 1].next)
        status = c->calls[i - 1].callback(c->calls[i - 1].self, record);
    return status;
}

int gt_trace_reader_run(struct gt_trace_reader *r, struct gt_trace_error *err)
{
    struct gt_trace_error later;
    int first = 0;
    for (;;) {
        const struct gt_trace_record *record;
        int status = gt_trace_reader_next(r, &record, first ? &later : err);
        if (status == 0)
            return first;
        if (status < 0 && first == 0)
            first = status;
        if (status > 0 && (status = call(&r->calls, record)) != 0)
            return status;
    }
}

static struct gt_events_id *slot_of(const struct gt_events_ids *ids, uint64_t id)
{
    size_t at = gt_events_ids_place(ids, id);
    while (ids->slots[at].used && ids->slots[at].id != id)
        at = (at + 1) & ids->mask;
    return &ids->slots[at];
}

static bool grow(struct gt_events_ids *ids)
{
    size_t old = ids->slots ? ids->mask + 1 : 0, room = old ? 2 * old : 256;
    struct gt_events_ids bigger = {calloc(room, sizeof *ids->slots), room - 1, ids->used, 0};
    if (!bigger.slots)
        return false;
    bigger.seed = (uint64_t)(uintptr_t)bigger.slots;
    for (size_t i = 0; i < old; i++)
        if (ids->slots[i].used)
            *slot_of(&bigger, ids->slots[i].id) = ids->slots[i];
    free(ids->slots);
    *ids = bigger;
    return true;
}

static bool means(const struct gt_events_id *slot, const struct gt_trace_declaration *event,
                  const char *name, size_t n)
{
    if (!slot->used || slot->event || event)
        return slot->used && slot->event && slot->event == event;
    return strlen(slot->name) == n && memcmp(slot->name, name, n) == 0;
}

int gt_events_ids_map(struct gt_events_ids *ids, uint64_t id,
                      const struct gt_trace_declaration *event, const char *name, size_t n)
{
    if ((!ids->slots || ids->used >= (ids->mask + 1) / 4 * 3) && !grow(ids))
        return GT_TRACE_E_NOMEM;
    struct gt_events_id *slot = slot_of(ids, id);
    if (means(slot, event, name, n))
        return 0;
    char *copy = event ? NULL : strndup(name, n);
    if (!event && !copy)
        return GT_TRACE_E_NOMEM;
    ids->used += !slot->used;
    free(slot->name);
    *slot = (struct gt_events_id){.id = id, .event = event, .name = copy, .used = true};
    return 0;
}

void gt_events_ids_free(struct gt_events_ids *ids)
{
    for (size_t i = 0; ids->slots && i <= ids->mask; i++)
        free(ids->slots[i].name);
    free(ids->slots);
    *ids = (struct gt_events_ids){0};
}

enum { ROOM = 256 << 10 };

int gt_events_input_open(struct gt_events_input *in, const char *path, struct gt_trace_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    *in = (struct gt_events_input){.path = standard ? "standard input" : path, .own = !standard};
    in->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0)
        return gt_events_fail_errno(err, errno, "%s: cannot be opened", path);
    in->data = malloc(ROOM);
    in->room = ROOM;
    if (in->data)
        return 0;
    gt_events_input_close(in);
    return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", path);
}

void gt_events_input_close(struct gt_events_input *in)
{
    if (in->own && in->fd >= 0)
        close(in->fd);
    free(in->data);
    in->data = NULL;
    in->fd = -1;
}

/* The rest moves to the front of a buffer of at least n bytes. */
static bool make_buffer(struct gt_events_input *in, size_t n)
{
    size_t left = gt_events_input_left(in);
    if (n > in->room) {
        uint8_t *data = realloc(in->data, n);
        if (!data)
            return false;
        in->data = data;
        in->room = n;
    }
    memmove(in->data, in->data + in->start, left);
    in->start = 0;
    in->end = left;
    return true;
}

int gt_events_input_need(struct gt_events_input *in, size_t n, struct gt_trace_error *err)
{
    if (gt_events_input_left(in) >= n)
        return 1;
    if (!make_buffer(in, n))
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", in->path);
    while (in->end < n && !in->ended) {
        if (in->before_wait)
            in->before_wait(in->self);
        ssize_t done = read(in->fd, in->data + in->end, in->room - in->end);
        if (done < 0 && errno != EINTR)
            return gt_events_fail_errno(err, errno, "%s: cannot be read", in->path);
        in->ended = done == 0;
        in->end += done > 0 ? (size_t)done : 0;
    }
    return in->end >= n;
}
