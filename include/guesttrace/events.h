/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace events: the interface of the code that tracetool generates. Programs include the generated
 * header and call trace_<event>(); guesttrace/control.h has the functions that control tracing.
 *
 * An event is an object and a state word: the word has a bit for each backend that takes the event
 * now, and is 0 while the event is off. A call of an event that is off costs one load of that word
 * and a branch. The control functions write the word. Events belong to a group, one for each
 * generated C file, which a constructor registers and a destructor unregisters, so that the events
 * of a shared object exist while it is loaded. Any thread may call events before, during and after
 * the registration.
 *
 * The code that is generated for `queue_push(void *q, int n, const char *name) "q %p n %d name %s"`
 * in group `demo`, for the backends log and simple. The header:
 *
 *     #include <guesttrace/events.h>
 *     #define TRACE_QUEUE_PUSH_ENABLED 1
 *     extern uint16_t _TRACE_QUEUE_PUSH_DSTATE;
 *     extern struct gt_trace_event _TRACE_QUEUE_PUSH_EVENT;
 *     void _gt_trace_queue_push(unsigned on, void *q, int n, const char *name);
 *     static inline void trace_queue_push(void *q, int n, const char *name)
 *     {
 *         unsigned on = gt_trace_on(&_TRACE_QUEUE_PUSH_DSTATE);
 *         if (gt_trace_unlikely(on))
 *             _gt_trace_queue_push(on, q, n, name);
 *     }
 *
 * The C file:
 *
 *     uint16_t _TRACE_QUEUE_PUSH_DSTATE;
 *     struct gt_trace_event _TRACE_QUEUE_PUSH_EVENT = {
 *         .name = "queue_push", .state = &_TRACE_QUEUE_PUSH_DSTATE,
 *         .backends = GT_TRACE_LOG | GT_TRACE_SIMPLE, .enabled = TRACE_QUEUE_PUSH_ENABLED};
 *     void _gt_trace_queue_push(unsigned on, void *q, int n, const char *name)
 *     {
 *         if (on & GT_TRACE_TEXT) {
 *     #line 7 "demo/trace-events"
 *             gt_trace_text(on, "queue_push " "q %p n %d name %s" "\n", q, n, name);
 *     #line 20 "trace-demo.c"
 *         }
 *         if (on & GT_TRACE_SIMPLE) {
 *             struct gt_trace_slot slot;
 *             uint32_t l2 = gt_trace_string_length(name);
 *             if (gt_trace_simple_begin(&slot, &_TRACE_QUEUE_PUSH_EVENT, 8 + 8 + 4 + l2)) {
 *                 gt_trace_put_u64(&slot, (uint64_t)(uintptr_t)q);
 *                 gt_trace_put_u64(&slot, (uint64_t)n);
 *                 gt_trace_put_string(&slot, name, l2);
 *                 gt_trace_simple_end(&slot);
 *             }
 *         }
 *     }
 *     static struct gt_trace_event *const demo_events[] = {&_TRACE_QUEUE_PUSH_EVENT};
 *     static struct gt_trace_group demo_group = GT_TRACE_GROUP("demo", demo_events, 1);
 *     GT_TRACE_REGISTER(demo_group)
 *
 * The text backends share one string, "NAME FORMAT\n" (with no format: "NAME\n"), formatted once. A
 * payload is 8 bytes for each number and pointer, and 4 bytes and the length for each string; the
 * puts between begin and end must add up to the size given to begin. The backends ust and dtrace
 * have state checks of their own: their calls are in the inline function, beside the check of the
 * state word. An event that is declared `disable` has _ENABLED 0, an empty inline function and the
 * declaration of its state word; its object, if there is one, has .enabled 0 and .state NULL, and
 * is listed but cannot be switched on.
 */
#ifndef GUESTTRACE_EVENTS_H
#define GUESTTRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Backends: bits of state words and of gt_trace_event.backends. */
#define GT_TRACE_LOG    0x01u
#define GT_TRACE_SIMPLE 0x02u
#define GT_TRACE_FTRACE 0x04u
#define GT_TRACE_SYSLOG 0x08u
#define GT_TRACE_UST                                                                               \
    0x10u /* ust and dtrace have states of their own, and no bit in the state word */
#define GT_TRACE_DTRACE 0x20u
#define GT_TRACE_TEXT   (GT_TRACE_LOG | GT_TRACE_FTRACE | GT_TRACE_SYSLOG)

#define GT_TRACE_STRING_MAX 512 /* bytes of a string that a simple record keeps */

#define gt_trace_unlikely(x) __builtin_expect(!!(x), 0)

struct gt_trace_event {
    const char *name;
    uint16_t *state;   /* the state word, with static storage like the event */
    uint16_t backends; /* GT_TRACE_*: the backends that it was generated for */
    uint8_t enabled;   /* 0: declared `disable`, calls do nothing */
    uint8_t vcpu;      /* declared `vcpu` */
    uint8_t on;        /* private to the runtime: it has been switched on */
    uint32_t
        id; /* private to the runtime; the same for the same name, also after it is loaded again */
    struct gt_trace_group *group; /* the runtime's */
};

/* A group, with static storage like everything it points to. */
struct gt_trace_group {
    uint32_t version; /* GT_TRACE_VERSION */
    uint32_t count;
    const char *name;
    struct gt_trace_event *const *events;
    struct gt_trace_group *next; /* the runtime's */
    void *registered;            /* the runtime's */
};

#define GT_TRACE_VERSION 1

#define GT_TRACE_GROUP(group_name, group_events, group_count)                                      \
    {                                                                                              \
        .version = GT_TRACE_VERSION, .count = (group_count), .name = (group_name),                 \
        .events = (group_events)                                                                   \
    }

/* Registers a group's events. They are off, unless a control function has switched their names on
 * before. A group that is registered already, or has another version, is left alone. */
void gt_trace_register(struct gt_trace_group *group);
/* Returns when no control function uses the group any more. */
void gt_trace_unregister(struct gt_trace_group *group);

/* Registers a group when its shared object is loaded, before constructors without a priority. */
#define GT_TRACE_REGISTER(group)                                                                   \
    static void __attribute__((constructor(200))) gt_trace_load_##group(void)                      \
    {                                                                                              \
        gt_trace_register(&group);                                                                 \
    }                                                                                              \
    static void __attribute__((destructor(200))) gt_trace_unload_##group(void)                     \
    {                                                                                              \
        gt_trace_unregister(&group);                                                               \
    }

/* Returns the backends that take the event now. */
static inline unsigned gt_trace_on(const uint16_t *state)
{
    return __atomic_load_n(state, __ATOMIC_RELAXED);
}

/* Sends a line to the text backends in `on`. The format begins with the event's name and a blank
 * and ends with a newline. errno is preserved. */
void gt_trace_text(unsigned on, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The place of a record that is being written. */
struct gt_trace_slot {
    uint8_t *next; /* place of the next payload bytes */
    void *ring;    /* the runtime's */
    uint64_t end;  /* the runtime's */
};

/* Begins a record of `payload` bytes. False: the record is dropped and counted; do not put or end
 * it. May be called in a signal handler, even one that has interrupted another record. Only puts
 * are allowed between begin and end. errno is preserved. */
bool gt_trace_simple_begin(struct gt_trace_slot *slot, const struct gt_trace_event *event,
                           uint32_t payload);
void gt_trace_simple_end(struct gt_trace_slot *slot);

/* The conversion to uint64_t extends signed values. */
static inline void gt_trace_put_u64(struct gt_trace_slot *slot, uint64_t value)
{
    memcpy(slot->next, &value, sizeof value);
    slot->next += sizeof value;
}

/* Returns how many bytes of a string a record keeps; 0 for NULL. Call it once a record: the string
 * may change. */
uint32_t gt_trace_string_length(const char *s);

static inline void gt_trace_put_string(struct gt_trace_slot *slot, const char *s, uint32_t length)
{
    memcpy(slot->next, &length, sizeof length);
    if (length)
        memcpy(slot->next + sizeof length, s, length);
    slot->next += sizeof length + length;
}

#ifdef __cplusplus
}
#endif

/* The macros of QEMU: trace_event_get_state(TRACE_QUEUE_PUSH) is 0 at compile time for an event
 * that is declared `disable`. The generated header defines TRACE_<EVENT>_BACKEND_DSTATE(), which
 * also checks the backends that have states of their own. */
#ifndef trace_event_get_state
#define trace_event_get_state(id)                                                                  \
    ((id##_ENABLED) && gt_trace_unlikely(gt_trace_on(&_##id##_DSTATE)))
#define trace_event_get_state_backends(id) ((id##_ENABLED) && id##_BACKEND_DSTATE())
#endif

#endif
