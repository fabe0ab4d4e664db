/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The declared events of a trace-events file: functions for the reader, beside the public ones of
 * guesttrace/simpletrace.h.
 */
#ifndef GT_EVENTS_LIBRARY_READ_DECLARATIONS_H
#define GT_EVENTS_LIBRARY_READ_DECLARATIONS_H

#include <guesttrace/simpletrace.h>

/* Returns the arguments preceded by the vCPU, for a declaration with the property "vcpu". */
static inline const struct gt_trace_argument *
gt_events_vcpu_arguments(const struct gt_trace_declaration *d)
{
    return d->arguments - 1;
}

/* gt_trace_declarations_find for a name of n bytes. */
const struct gt_trace_declaration *gt_events_find(const struct gt_trace_declarations *d,
                                                  const char *name, size_t n);

#endif
