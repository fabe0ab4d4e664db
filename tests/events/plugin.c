/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shared object with an event of its own, NAME_event(): loaded and unloaded while threads record.
 */
#include <guesttrace/events.h>

#define STRING2(x) #x
#define STRING(x)  STRING2(x)

static uint16_t state;
static struct gt_trace_event event = {
    .name = STRING(NAME) "_event", .state = &state, .backends = GT_TRACE_SIMPLE, .enabled = 1};

void plugin_fire(uint64_t number, uint64_t round);
__attribute__((visibility("default"))) void plugin_fire(uint64_t number, uint64_t round)
{
    struct gt_trace_slot slot;
    if (!gt_trace_on(&state) || !gt_trace_simple_begin(&slot, &event, 16))
        return;
    gt_trace_put_u64(&slot, number);
    gt_trace_put_u64(&slot, round);
    gt_trace_simple_end(&slot);
}

static struct gt_trace_event *const events[] = {&event};
static struct gt_trace_group group = GT_TRACE_GROUP(STRING(NAME), events, 1);
GT_TRACE_REGISTER(group)
