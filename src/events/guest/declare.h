/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a trace-events file for one function: see expand.h. */
#ifndef GT_EVENTS_GUEST_DECLARE_H
#define GT_EVENTS_GUEST_DECLARE_H

#include "base/text.h"
#include "guest/abi/abi.h"

/* The name of a function's event: f_isra_0 of f.isra.0. The caller frees it (g_free). NULL: no
 * place in a trace-events file can be the function. */
char *gt_guest_event_name(const char *function);
/* The event of the function's first instruction. An argument's name that is not a word of C is
 * argN.
 */
void gt_guest_event_declare(const struct gt_abi *abi, const struct gt_prototypes *p,
                            const struct gt_prototype *item, const char *name, const char *event,
                            struct gt_text *out);
/* It has a result that an event can have; the event of its return. */
bool gt_guest_event_has_result(const struct gt_prototypes *p, const struct gt_prototype *item);
void gt_guest_event_declare_return(const struct gt_prototypes *p, const struct gt_prototype *item,
                                   const char *name, const char *event, struct gt_text *out);

#endif
