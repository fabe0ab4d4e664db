/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See handmade.h. */
#include "handmade.h"

#include <inttypes.h>

#define EVENT(NAME, event_name)                                                                    \
    uint16_t _TRACE_##NAME##_DSTATE;                                                               \
    struct gt_trace_event _TRACE_##NAME##_EVENT = {.name = event_name,                             \
                                                   .state = &_TRACE_##NAME##_DSTATE,               \
                                                   .backends = HANDMADE_BACKENDS,                  \
                                                   .enabled = TRACE_##NAME##_ENABLED};

EVENT(HM_NONE, "hm_none")
EVENT(HM_TWO, "hm_two")
EVENT(HM_NAME, "hm_name")
EVENT(HM_TEN, "hm_ten")
struct gt_trace_event _TRACE_HM_OFF_EVENT = {.name = "hm_off"};

void _gt_trace_hm_none(unsigned on)
{
    if (on & GT_TRACE_TEXT)
        gt_trace_text(on, "hm_none "
                          "\n");
    if (on & GT_TRACE_SIMPLE) {
        struct gt_trace_slot slot;
        if (gt_trace_simple_begin(&slot, &_TRACE_HM_NONE_EVENT, 0))
            gt_trace_simple_end(&slot);
    }
}

void _gt_trace_hm_two(unsigned on, int a, uint64_t b)
{
    if (on & GT_TRACE_TEXT)
        gt_trace_text(on, "hm_two a %d b %" PRIu64 "\n", a, b);
    if (on & GT_TRACE_SIMPLE) {
        struct gt_trace_slot slot;
        if (gt_trace_simple_begin(&slot, &_TRACE_HM_TWO_EVENT, 16)) {
            gt_trace_put_u64(&slot, (uint64_t)a);
            gt_trace_put_u64(&slot, b);
            gt_trace_simple_end(&slot);
        }
    }
}

void _gt_trace_hm_name(unsigned on, const char *name, void *p)
{
    if (on & GT_TRACE_TEXT)
        gt_trace_text(on, "hm_name name %s p %p\n", name, p);
    if (on & GT_TRACE_SIMPLE) {
        struct gt_trace_slot slot;
        uint32_t l0 = gt_trace_string_length(name);
        if (gt_trace_simple_begin(&slot, &_TRACE_HM_NAME_EVENT, 4 + l0 + 8)) {
            gt_trace_put_string(&slot, name, l0);
            gt_trace_put_u64(&slot, (uint64_t)(uintptr_t)p);
            gt_trace_simple_end(&slot);
        }
    }
}

void _gt_trace_hm_ten(unsigned on, int8_t a, uint8_t b, int16_t c, uint16_t d, bool e, long long f,
                      const char *g, size_t h, const char *i, char j)
{
    if (on & GT_TRACE_TEXT)
        gt_trace_text(on, "hm_ten a %d b %u c %d d %u e %d f %lld g %s h %zu i %s j %d\n", a, b, c,
                      d, e, f, g, h, i, j);
    if (on & GT_TRACE_SIMPLE) {
        struct gt_trace_slot slot;
        uint32_t l6 = gt_trace_string_length(g), l8 = gt_trace_string_length(i);
        if (gt_trace_simple_begin(&slot, &_TRACE_HM_TEN_EVENT, 8 * 8 + 4 + l6 + 4 + l8)) {
            gt_trace_put_u64(&slot, (uint64_t)a);
            gt_trace_put_u64(&slot, (uint64_t)b);
            gt_trace_put_u64(&slot, (uint64_t)c);
            gt_trace_put_u64(&slot, (uint64_t)d);
            gt_trace_put_u64(&slot, (uint64_t)e);
            gt_trace_put_u64(&slot, (uint64_t)f);
            gt_trace_put_string(&slot, g, l6);
            gt_trace_put_u64(&slot, (uint64_t)h);
            gt_trace_put_string(&slot, i, l8);
            gt_trace_put_u64(&slot, (uint64_t)j);
            gt_trace_simple_end(&slot);
        }
    }
}

static struct gt_trace_event *const events[] = {&_TRACE_HM_NONE_EVENT, &_TRACE_HM_TWO_EVENT,
                                                &_TRACE_HM_NAME_EVENT, &_TRACE_HM_TEN_EVENT,
                                                &_TRACE_HM_OFF_EVENT};
static struct gt_trace_group handmade = GT_TRACE_GROUP("handmade", events, 5);
GT_TRACE_REGISTER(handmade)
