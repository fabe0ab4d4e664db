/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the programs that a recorded program executed, where each has its own: OUTPUT.PID.N. */
#ifndef GT_CLI_RECORD_PROGRAMS_H
#define GT_CLI_RECORD_PROGRAMS_H

#include "cli/record/recording.h"

/* Remembers the programs of earlier runs, before QEMU starts. */
void gt_record_programs_mark(struct gt_record_recording *r);
/* Names this run's, if any, on standard error. */
void gt_record_programs_report(const struct gt_record_recording *r);
void gt_record_programs_clear(struct gt_record_recording *r);

#endif
