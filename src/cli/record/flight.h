/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `record --last`: a flight recorder, whose snapshots are files. */
#ifndef GT_CLI_RECORD_FLIGHT_H
#define GT_CLI_RECORD_FLIGHT_H

#include "cli/record/recording.h"

/* Whether --last may be given, and how much it says. GT_E_USAGE. */
int gt_record_flight_check(const struct gt_record_recording *r, struct gt_error *err);
/* Before the run: which files are there. */
void gt_record_flight_mark(struct gt_record_recording *r);
/* For gt_record_child: a signal for us; SIGUSR2 writes a snapshot. False: it is the child's. */
bool gt_record_flight_signal(void *recording, int sig);
/* After the run, when the last snapshot is complete: paths of all, in order. The caller frees the
 * array (g_ptr_array_unref). */
GPtrArray *gt_record_flight_files(const struct gt_record_recording *r);
/* True if the plugin has not made the last one, because it was killed or could not. */
bool gt_record_flight_is_open(const struct gt_record_recording *r);

#endif
