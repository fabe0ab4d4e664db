/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls in Perfetto's own format: track events, in order of time.
 *
 * The file is one message Trace: packets (field 1, message TracePacket). Each task has a sequence
 * of packets of its own (10, trusted_packet_sequence_id, in the order in which tasks appear), and
 * the console has one. A packet of an event:
 *
 *   10 sequence, 13 sequence_flags 2 (needs the sequence's state), 8 timestamp: nanoseconds since
 *   the sequence's event before, 11 track_event { 9 type: 1 begin, 2 end, 3 instant;
 *   10 name_iid of a begin, 23 name of an instant, 4 debug_annotations: the call's values }
 *
 * The state of a sequence is what its events refer to: the clock (64, incremental: 58
 * timestamp_clock_id in 59 trace_packet_defaults, set by 6 clock_snapshot to the nanoseconds of
 * clock 6), the track (11.11 track_uuid in the defaults), and names: 12 interned_data { 2
 * event_names { 1 iid, 2 name } } in the packet that has a name first. It is written anew
 * (sequence_flags 1) with the first event after each STATE_BYTES of the file, after the
 * descriptions (60 track_descriptor) of the track and of its process' track: so a part of a file
 * opens by itself.
 */
#include "calls/export/protobuf.h"
#include "calls/export/recording.h"
#include "calls/export/slices.h"
#include "names/image/demangle.h"

#include <glib.h>

enum {
    STATE_BYTES = 8 << 20,
    HEAD_MAX = 10,  /* the sequence's fields of an event's packet */
    EVENT_MAX = 48, /* an event's packet without interned data and text */
    CLOCK = 64,     /* the first of those that belong to a sequence */
    TRACE_CLOCK = 6,
};

enum { BEGIN = 1, END = 2, INSTANT = 3 }; /* TrackEvent.Type */

enum track { TRACK_PROCESS = 1, TRACK_TASK, TRACK_CONSOLE };

struct sequence {
    uint32_t id;                /* 0: it has had no event */
    uint32_t state;             /* struct perfetto's when its state was written */
    uint64_t time;              /* of its last event */
    uint8_t head[HEAD_MAX + 6]; /* room to be copied as 16 bytes */
    uint8_t head_length;
    uint32_t n_names;
    uint32_t mask;   /* of slots */
    uint64_t *slots; /* function + 1 << 32 | iid; 0: free */
};

struct perfetto {
    struct gt_calls *calls;
    struct gt_output *out;
    struct gt_image_demangler *demangler;
    struct gt_export_protobuf packet;
    struct sequence *sequences; /* by task; the console's last */
    uint32_t n_tasks, n_sequences;
    uint32_t state; /* from 1 */
    int64_t left;   /* bytes until the states are written anew */
};

static uint64_t track_of(enum track kind, uint32_t index)
{
    return (uint64_t)kind << 32 | index;
}

/* ---- packets of any form ------------------------------------------------------------------- */

static struct gt_export_protobuf *begin_packet(struct perfetto *x, const struct sequence *s)
{
    x->packet.len = 0;
    gt_export_protobuf_u64(&x->packet, 10, s->id);
    return &x->packet;
}

static void end_packet(struct perfetto *x)
{
    uint8_t *head = (uint8_t *)gt_output_room(x->out, 1 + GT_PROTOBUF_VARINT);
    *head = 1 << 3 | 2;
    uint8_t *end = gt_export_protobuf_put(head + 1, x->packet.len);
    gt_output_end(x->out, (char *)end);
    gt_output_bytes(x->out, x->packet.data, x->packet.len);
    x->left -= (end - head) + (int64_t)x->packet.len;
}

static void describe_process(struct perfetto *x, const struct sequence *s, uint32_t index)
{
    const struct gt_calls_process *process = gt_calls_process(x->calls, index);
    const char *slash = strrchr(process->exename, '/');
    struct gt_export_protobuf *p = begin_packet(x, s);
    size_t track = gt_export_protobuf_begin(p, 60);
    gt_export_protobuf_u64(p, 1, track_of(TRACK_PROCESS, index));
    size_t what = gt_export_protobuf_begin(p, 3);
    gt_export_protobuf_u64(p, 1, process->pid);
    gt_export_protobuf_text(p, 2, process->exename);
    gt_export_protobuf_text(p, 6, slash ? slash + 1 : process->exename);
    gt_export_protobuf_end(p, what);
    gt_export_protobuf_end(p, track);
    end_packet(x);
}

static void describe_task(struct perfetto *x, const struct sequence *s, uint32_t index)
{
    const struct gt_calls_task *task = gt_calls_task(x->calls, index);
    describe_process(x, s, task->process);
    struct gt_export_protobuf *p = begin_packet(x, s);
    size_t track = gt_export_protobuf_begin(p, 60);
    gt_export_protobuf_u64(p, 1, track_of(TRACK_TASK, index));
    gt_export_protobuf_u64(p, 5, track_of(TRACK_PROCESS, task->process));
    size_t what = gt_export_protobuf_begin(p, 4);
    gt_export_protobuf_u64(p, 1, gt_calls_process(x->calls, task->process)->pid);
    gt_export_protobuf_u64(p, 2, task->id);
    gt_export_protobuf_text(p, 5, task->name);
    gt_export_protobuf_end(p, what);
    gt_export_protobuf_end(p, track);
    end_packet(x);
}

static void describe_console(struct perfetto *x, const struct sequence *s)
{
    struct gt_export_protobuf *p = begin_packet(x, s);
    size_t track = gt_export_protobuf_begin(p, 60);
    gt_export_protobuf_u64(p, 1, track_of(TRACK_CONSOLE, 0));
    gt_export_protobuf_text(p, 2, "console");
    gt_export_protobuf_end(p, track);
    end_packet(x);
}

static void put_clock(struct gt_export_protobuf *p, uint32_t id, uint64_t time)
{
    size_t clock = gt_export_protobuf_begin(p, 1);
    gt_export_protobuf_u64(p, 1, id);
    gt_export_protobuf_u64(p, 2, time);
    if (id == CLOCK)
        gt_export_protobuf_u64(p, 3, 1); /* incremental */
    gt_export_protobuf_end(p, clock);
}

static void put_state(struct perfetto *x, const struct sequence *s, uint64_t track)
{
    struct gt_export_protobuf *p = begin_packet(x, s);
    gt_export_protobuf_u64(p, 13, 1);
    size_t defaults = gt_export_protobuf_begin(p, 59);
    gt_export_protobuf_u64(p, 58, CLOCK);
    size_t event = gt_export_protobuf_begin(p, 11);
    gt_export_protobuf_u64(p, 11, track);
    gt_export_protobuf_end(p, event);
    gt_export_protobuf_end(p, defaults);
    size_t snapshot = gt_export_protobuf_begin(p, 6);
    put_clock(p, CLOCK, s->time);
    put_clock(p, TRACE_CLOCK, s->time);
    gt_export_protobuf_end(p, snapshot);
    end_packet(x);
}

/* ---- sequences ----------------------------------------------------------------------------- */

static void number(struct perfetto *x, struct sequence *s)
{
    uint8_t *p = s->head;
    s->id = ++x->n_sequences;
    *p++ = 10 << 3;
    p = gt_export_protobuf_put(p, s->id);
    *p++ = 13 << 3;
    *p++ = 2;
    *p++ = 8 << 3;
    s->head_length = (uint8_t)(p - s->head);
}

static void renew(struct perfetto *x, struct sequence *s, uint32_t index, uint64_t time)
{
    const bool console = index == x->n_tasks;
    if (x->left < 0) {
        x->state++;
        x->left = STATE_BYTES;
    }
    if (!s->id)
        number(x, s);
    s->state = x->state;
    s->time = time;
    s->n_names = 0;
    if (s->slots)
        memset(s->slots, 0, ((size_t)s->mask + 1) * sizeof *s->slots);
    if (console)
        describe_console(x, s);
    else
        describe_task(x, s, index);
    put_state(x, s, console ? track_of(TRACK_CONSOLE, 0) : track_of(TRACK_TASK, index));
}

/* The task's sequence, with a state that its next event may refer to. */
static inline struct sequence *sequence_of(struct perfetto *x, uint32_t index, uint64_t time)
{
    struct sequence *s = &x->sequences[index];
    if (__builtin_expect(s->state != x->state || x->left < 0, 0))
        renew(x, s, index, time);
    return s;
}

static inline uint64_t *slot_of(const struct sequence *s, uint32_t function)
{
    uint32_t i = function * UINT32_C(0x9e3779b1) >> 7;
    for (;; i++) {
        uint64_t *slot = &s->slots[i & s->mask];
        if (!*slot || *slot >> 32 == (uint64_t)function + 1)
            return slot;
    }
}

static void grow(struct sequence *s)
{
    uint64_t *old = s->slots;
    const size_t n = old ? (size_t)s->mask + 1 : 0;
    s->mask = n ? (uint32_t)(2 * n - 1) : 63;
    s->slots = g_new0(uint64_t, (size_t)s->mask + 1);
    for (size_t i = 0; i < n; i++)
        if (old[i])
            *slot_of(s, (uint32_t)(old[i] >> 32) - 1) = old[i];
    g_free(old);
}

/* ---- events -------------------------------------------------------------------------------- */

/* The packet up to its track event; returns where that goes. */
static inline uint8_t *put_head(const struct sequence *s, uint8_t *packet, uint64_t time)
{
    packet[0] = 1 << 3 | 2;
    memcpy(packet + 2, s->head, sizeof s->head);
    return gt_export_protobuf_put(packet + 2 + s->head_length, time - s->time);
}

/* The packet ends at p: it has less than 128 bytes. */
static inline void end_event(struct perfetto *x, struct sequence *s, uint8_t *packet, uint8_t *p,
                             uint64_t time)
{
    packet[1] = (uint8_t)(p - packet - 2);
    x->left -= p - packet;
    s->time = time;
    gt_output_end(x->out, (char *)p);
}

static void begin_slow(struct perfetto *x, struct sequence *s, uint64_t time)
{
    struct gt_export_protobuf *p = begin_packet(x, s);
    gt_export_protobuf_u64(p, 13, 2);
    gt_export_protobuf_u64(p, 8, time - s->time);
    s->time = time;
}

/* A name that the state does not have yet: its number. In the packet. */
static uint32_t intern(struct perfetto *x, struct sequence *s, uint32_t function)
{
    if (!s->slots || s->n_names > s->mask / 2)
        grow(s);
    const uint32_t iid = ++s->n_names;
    *slot_of(s, function) = ((uint64_t)function + 1) << 32 | iid;
    struct gt_export_protobuf *p = &x->packet;
    size_t data = gt_export_protobuf_begin(p, 12), name = gt_export_protobuf_begin(p, 2);
    gt_export_protobuf_u64(p, 1, iid);
    gt_export_protobuf_text(
        p, 2, gt_image_demangle(x->demangler, gt_calls_function(x->calls, function)->name));
    gt_export_protobuf_end(p, name);
    gt_export_protobuf_end(p, data);
    return iid;
}

static void put_annotations(struct gt_export_protobuf *p, const struct gt_export_slice_value *v,
                            size_t n)
{
    enum { UINT = 3, INT = 4, TEXT = 6, POINTER = 7, NAME = 10 };
    static const uint32_t field[] = {
        [GT_SLICE_SIGNED] = INT, [GT_SLICE_UNSIGNED] = UINT, [GT_SLICE_ADDRESS] = POINTER};
    for (size_t i = 0; i < n; i++) {
        size_t annotation = gt_export_protobuf_begin(p, 4);
        gt_export_protobuf_text(p, NAME, v[i].name);
        if (v[i].kind == GT_SLICE_TEXT)
            gt_export_protobuf_text(p, TEXT, v[i].text);
        else
            gt_export_protobuf_u64(p, field[v[i].kind], v[i].word);
        gt_export_protobuf_end(p, annotation);
    }
}

/* A begin whose name the state does not have yet (iid 0), or one that has values. */
static void put_begin_slow(struct perfetto *x, struct sequence *s, const struct gt_call *e,
                           uint32_t iid, const struct gt_export_slice_value *v, size_t n)
{
    begin_slow(x, s, e->time);
    if (!iid)
        iid = intern(x, s, e->function);
    struct gt_export_protobuf *p = &x->packet;
    size_t event = gt_export_protobuf_begin(p, 11);
    gt_export_protobuf_u64(p, 9, BEGIN);
    gt_export_protobuf_u64(p, 10, iid);
    put_annotations(p, v, n);
    gt_export_protobuf_end(p, event);
    end_packet(x);
}

static void put_end_slow(struct perfetto *x, struct sequence *s, uint64_t time,
                         const struct gt_export_slice_value *v, size_t n)
{
    begin_slow(x, s, time);
    struct gt_export_protobuf *p = &x->packet;
    size_t event = gt_export_protobuf_begin(p, 11);
    gt_export_protobuf_u64(p, 9, END);
    put_annotations(p, v, n);
    gt_export_protobuf_end(p, event);
    end_packet(x);
}

static void put_begin(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                      size_t n)
{
    struct perfetto *x = self;
    const uint64_t time = e->time;
    struct sequence *s = sequence_of(x, e->task, time);
    const uint64_t slot = s->slots ? *slot_of(s, e->function) : 0;
    if (!slot || n) {
        put_begin_slow(x, s, e, (uint32_t)slot, v, n);
        return;
    }
    uint8_t *packet = (uint8_t *)gt_output_room(x->out, EVENT_MAX), *p = put_head(s, packet, time);
    p[0] = 11 << 3 | 2;
    p[2] = 9 << 3;
    p[3] = BEGIN;
    p[4] = 10 << 3;
    uint8_t *end = gt_export_protobuf_put(p + 5, slot & UINT32_MAX);
    p[1] = (uint8_t)(end - p - 2);
    end_event(x, s, packet, end, time);
}

static void put_end(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                    size_t n)
{
    struct perfetto *x = self;
    const uint64_t time = e->time;
    struct sequence *s = sequence_of(x, e->task, time);
    if (n) {
        put_end_slow(x, s, time, v, n);
        return;
    }
    uint8_t *packet = (uint8_t *)gt_output_room(x->out, EVENT_MAX), *p = put_head(s, packet, time);
    p[0] = 11 << 3 | 2;
    p[1] = 2;
    p[2] = 9 << 3;
    p[3] = END;
    end_event(x, s, packet, p + 4, time);
}

static void put_instant(void *self, uint32_t task, uint64_t time, const char *text)
{
    struct perfetto *x = self;
    struct sequence *s = sequence_of(x, task == GT_SLICES_CONSOLE ? x->n_tasks : task, time);
    begin_slow(x, s, time);
    struct gt_export_protobuf *p = &x->packet;
    size_t event = gt_export_protobuf_begin(p, 11);
    gt_export_protobuf_u64(p, 9, INSTANT);
    gt_export_protobuf_text(p, 23, text);
    gt_export_protobuf_end(p, event);
    end_packet(x);
}

int gt_export_perfetto(struct gt_calls *c, const struct gt_calls_window *w, struct gt_output *out,
                       struct gt_error *err)
{
    const uint32_t n = (uint32_t)gt_calls_n_tasks(c);
    struct perfetto x = {.calls = c, .out = out, .n_tasks = n, .left = STATE_BYTES, .state = 1};
    const struct gt_export_slices slices = {&x, put_begin, put_end, put_instant};
    x.sequences = g_new0(struct sequence, (size_t)n + 1);
    x.demangler = gt_image_demangler_create();
    int status = gt_export_slices_read(c, w, &slices, out, err);
    for (size_t i = 0; i <= n; i++)
        g_free(x.sequences[i].slots);
    g_free(x.sequences);
    gt_image_demangler_destroy(x.demangler);
    gt_export_protobuf_free(&x.packet);
    return status;
}
