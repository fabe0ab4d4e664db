/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime's own threads: detached, and no signal is handled on them. */
#ifndef GT_EVENTS_THREAD_H
#define GT_EVENTS_THREAD_H

#include <stdbool.h>

/* What they do first: plugins keep them out of the guest's sight. NULL: nothing. */
extern void (*gt_events_thread_begin)(void);

bool gt_events_thread_start(void *(*run)(void *unused));

#endif
