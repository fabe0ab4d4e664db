/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chrome's trace events, JSON for Perfetto, chrome://tracing and others: an object with an array
 * traceEvents, an event a line. An event has a phase (B and E for the begin and the end of a slice,
 * i for an instant, C for a counter, M for names), a process, a thread, and a time in microseconds
 * with three decimals.
 */
#ifndef GT_BASE_CHROME_EVENTS_H
#define GT_BASE_CHROME_EVENTS_H

#include "base/json.h"

static inline void gt_json_chrome_begin(struct gt_json *j, struct gt_output *out)
{
    gt_json_init(j, out, GT_JSON_REPLACE);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "displayTimeUnit");
    gt_json_name(j, "ns");
    gt_json_key(j, "traceEvents");
    gt_json_begin_array(j);
    gt_json_commit(j);
}

static inline void gt_json_chrome_end(struct gt_json *j)
{
    gt_json_resume(j);
    gt_json_newline(j);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
}

/* {"ph":PHASE,"pid":PROCESS,"tid":THREAD,"ts":TIME; the caller adds what else it has. */
static inline void gt_json_chrome_event_begin(struct gt_json *j, const char *phase,
                                              uint32_t process, uint32_t thread, uint64_t ns)
{
    gt_json_resume(j);
    gt_json_newline(j);
    gt_json_begin_object(j);
    gt_json_key(j, "ph");
    gt_json_name(j, phase);
    gt_json_key(j, "pid");
    gt_json_u64(j, process);
    gt_json_key(j, "tid");
    gt_json_u64(j, thread);
    gt_json_key(j, "ts");
    gt_json_thousandths(j, ns);
}

static inline void gt_json_chrome_event_end(struct gt_json *j)
{
    gt_json_end_object(j);
    gt_json_commit(j);
}

/* `what` is process_name or thread_name. */
static inline void gt_json_chrome_event_name(struct gt_json *j, const char *what, uint32_t process,
                                             uint32_t thread, const char *name)
{
    gt_json_chrome_event_begin(j, "M", process, thread, 0);
    gt_json_key(j, "name");
    gt_json_name(j, what);
    gt_json_key(j, "args");
    gt_json_begin_object(j);
    gt_json_key(j, "name");
    gt_json_text(j, name);
    gt_json_end_object(j);
    gt_json_chrome_event_end(j);
}

#endif
