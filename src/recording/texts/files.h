/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that guesttrace adds to uftrace's in a recorded directory. */
#ifndef GT_RECORDING_TEXTS_FILES_H
#define GT_RECORDING_TEXTS_FILES_H

#define GT_STATS_FILE       "guesttrace.stats"   /* stats.h */
#define GT_CODE_MAP_FILE    "code.map"           /* recording/code_map/code_map.h */
#define GT_CODE_FOUND_FILE  "code.found"         /* code_found.h */
#define GT_GUEST_TASKS_FILE "guest-tasks.txt"    /* guest_tasks.h */
#define GT_HANDLERS_FILE    "guest-handlers.txt" /* handlers.h */
#define GT_OPEN_CALLS_FILE  "open-calls.txt"     /* open_calls.h */
/* The trace's newest time while a machine with one vCPU runs: a uint64_t in the host's byte order,
 * mapped and written at each record. It is there only where the time is not the host's clock. */
#define GT_LIVE_CLOCK_FILE ".now"

#define GT_MESSAGE_FIFO ".guesttrace.fifo" /* message.h */

#endif
