/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tracetool would write for a few events, by hand: the runtime's own tests need no generator.
 */
#ifndef HANDMADE_H
#define HANDMADE_H

#include <guesttrace/events.h>

#define HANDMADE_BACKENDS (GT_TRACE_LOG | GT_TRACE_SIMPLE | GT_TRACE_FTRACE | GT_TRACE_SYSLOG)

#define HANDMADE_EVENT(NAME)                                                                       \
    extern uint16_t _TRACE_##NAME##_DSTATE;                                                        \
    extern struct gt_trace_event _TRACE_##NAME##_EVENT;

#define TRACE_HM_NONE_ENABLED 1
#define TRACE_HM_TWO_ENABLED  1
#define TRACE_HM_NAME_ENABLED 1
#define TRACE_HM_TEN_ENABLED  1
#define TRACE_HM_OFF_ENABLED  0
HANDMADE_EVENT(HM_NONE)
HANDMADE_EVENT(HM_TWO)
HANDMADE_EVENT(HM_NAME)
HANDMADE_EVENT(HM_TEN)
HANDMADE_EVENT(HM_OFF)

/* hm_none(void) "" */
void _gt_trace_hm_none(unsigned on);
static inline void trace_hm_none(void)
{
    unsigned on = gt_trace_on(&_TRACE_HM_NONE_DSTATE);
    if (gt_trace_unlikely(on))
        _gt_trace_hm_none(on);
}

/* hm_two(int a, uint64_t b) "a %d b %" PRIu64 */
void _gt_trace_hm_two(unsigned on, int a, uint64_t b);
static inline void trace_hm_two(int a, uint64_t b)
{
    unsigned on = gt_trace_on(&_TRACE_HM_TWO_DSTATE);
    if (gt_trace_unlikely(on))
        _gt_trace_hm_two(on, a, b);
}

/* hm_name(const char *name, void *p) "name %s p %p" */
void _gt_trace_hm_name(unsigned on, const char *name, void *p);
static inline void trace_hm_name(const char *name, void *p)
{
    unsigned on = gt_trace_on(&_TRACE_HM_NAME_DSTATE);
    if (gt_trace_unlikely(on))
        _gt_trace_hm_name(on, name, p);
}

/* hm_ten(int8_t a, uint8_t b, int16_t c, uint16_t d, bool e, long long f, const char *g, size_t h,
 *        const char *i, char j) "..." */
void _gt_trace_hm_ten(unsigned on, int8_t a, uint8_t b, int16_t c, uint16_t d, bool e, long long f,
                      const char *g, size_t h, const char *i, char j);
static inline void trace_hm_ten(int8_t a, uint8_t b, int16_t c, uint16_t d, bool e, long long f,
                                const char *g, size_t h, const char *i, char j)
{
    unsigned on = gt_trace_on(&_TRACE_HM_TEN_DSTATE);
    if (gt_trace_unlikely(on))
        _gt_trace_hm_ten(on, a, b, c, d, e, f, g, h, i, j);
}

/* disable hm_off(int a) "a %d" */
static inline void trace_hm_off(int a)
{
    (void)a;
}

#endif
