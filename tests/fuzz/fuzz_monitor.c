/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client sends to the monitor, in pieces of the size that the first byte says: every command
 * is answered, nothing is kept beyond the limit, and answers to JSON are JSON.
 */
#include "events/library/monitor/json.h"
#include "events/library/monitor/monitor.h"

#include <guesttrace/events.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint16_t state;
static struct gt_trace_event event = {
    .name = "demo", .state = &state, .backends = GT_TRACE_LOG, .enabled = 1};
static struct gt_trace_event off = {.name = "demo_off"};
static struct gt_trace_event *const events[] = {&event, &off};
static struct gt_trace_group group = GT_TRACE_GROUP("demo", events, 2);
GT_TRACE_REGISTER(group)

/* Lines of answers to JSON begin with a brace; others may too, where an event's name is echoed. */
static void check_answer(const struct gt_events_monitor_client *c)
{
    struct gt_events_monitor_json value;
    const char *why, *where;
    if (c->out.failed || c->out.data[c->out.n - 1] != '\n' || strncmp(c->out.data, "{\"", 2) != 0)
        return;
    const char *end = gt_events_monitor_json_parse(c->out.data, c->out.n, &value, &why, &where);
    if (!end || end + 2 != c->out.data + c->out.n)
        abort();
}

static void work(struct gt_events_monitor_client *c)
{
    for (size_t before = c->fill + 1; c->fill && c->fill != before;) {
        before = c->fill;
        gt_events_monitor_client_work(c);
        if (c->out.n) {
            check_answer(c);
            c->out.n = 0;
        }
    }
}

/* A trace file must not come to be. */
static bool harmless(const uint8_t *data, size_t size)
{
    return !memmem(data, size, "file", 4) && !memmem(data, size, "\\u", 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!data || !size || !harmless(data, size))
        return 0;
    struct gt_events_monitor_client *c = calloc(1, sizeof *c);
    size_t piece = (size_t)*data++ * 64 + 1, n;
    if (!c)
        return 0;
    for (size--; size; data += n, size -= n) {
        size_t room = sizeof c->in - 1 - c->fill;
        n = size < piece ? size : piece;
        n = n < room ? n : room;
        if (!n)
            abort();
        memcpy(c->in + c->fill, data, n);
        c->fill += n;
        work(c);
    }
    c->ended = true;
    work(c);
    gt_events_monitor_free(&c->out);
    free(c);
    return 0;
}
