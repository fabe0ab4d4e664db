/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes of triggers that the plugin does not see: lines of a machine's console, events of its
 * QEMU. What fits a trigger is sent to the plugin (recording/texts/message.h), which counts and
 * acts. With --control all of it is sent: triggers may come later.
 *
 * A flight recorder (--last) of a machine makes a snapshot when it resets, panics or its watchdog
 * expires, at most GT_CAUSES_SNAPSHOTS times: a guest may reset for ever.
 */
#ifndef GT_CLI_RECORD_CAUSES_H
#define GT_CLI_RECORD_CAUSES_H

#include "cli/record/recording.h"
#include "filter/filter.h"

struct gt_record_causes;
struct gt_record_child_input;

enum { GT_CAUSES_SNAPSHOTS = 16 };

/* enum gt_filter_need: what of them this run does not see. */
uint32_t gt_record_causes_missing(const struct gt_record_recording *r);

/* Before the run: makes r->causes, where the filters (which it takes), --last or --control need it.
 * Errors of gt_record_qmp_open. */
int gt_record_causes_open(struct gt_record_recording *r, struct gt_filter_set *set,
                          struct gt_error *err);
/* For those below `c` may be NULL. Appends the plugin's arguments. */
void gt_record_causes_arguments(const struct gt_record_causes *c, GString *out);
/* The value of QEMU's -readconfig; NULL: none. */
const char *gt_record_causes_config(const struct gt_record_causes *c);
/* Of QEMU's events, for gt_record_child; NULL: none. */
const struct gt_record_child_input *gt_record_causes_input(const struct gt_record_causes *c);
/* The machine has printed a line. */
void gt_record_causes_line(void *c, const char *line);
/* After the run: prints what did not reach the plugin. */
void gt_record_causes_report(const struct gt_record_recording *r);
void gt_record_causes_free(struct gt_record_causes *c);

#endif
