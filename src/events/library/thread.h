/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime's own threads: detached, with all signals blocked. */
#ifndef GT_EVENTS_LIBRARY_THREAD_H
#define GT_EVENTS_LIBRARY_THREAD_H

#include <stdbool.h>

/* Called first on each such thread: plugins use it to hide the thread from the guest. NULL: no
 * call. */
extern void (*gt_events_thread_begin)(void);

bool gt_events_thread_start(void *(*run)(void *unused));

#endif
