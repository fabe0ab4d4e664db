/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a trace-events file for one function: see expand.h. */
#ifndef GT_ANALYSIS_GUEST_EVENTS_DECLARE_H
#define GT_ANALYSIS_GUEST_EVENTS_DECLARE_H

#include "base/text.h"
#include "guest/abi/abi.h"

/* The event of the function's first instruction. */
void gt_guest_event_declare(const struct gt_abi *abi, const struct gt_prototypes *p,
                            const struct gt_prototype *item, const char *name, struct gt_text *out);
/* That of its return; nothing: it has no result that an event can have. */
void gt_guest_event_declare_return(const struct gt_abi *abi, const struct gt_prototypes *p,
                                   const struct gt_prototype *item, const char *name,
                                   struct gt_text *out);

#endif
