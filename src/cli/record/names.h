/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for a machine that is recorded: from the files of --symbols and those that its QEMU is
 * given, before the run for the plugin (code map), after it for the addresses that were recorded.
 */
#ifndef GT_CLI_RECORD_NAMES_H
#define GT_CLI_RECORD_NAMES_H

#include "cli/record/recording.h"

/* Reads the files of --symbols: one that cannot be read is an error, here and not only after an
 * hour's run. A machine's own files are read, too, where they hold functions, and what is known of
 * all of them is written to OUTPUT.code.map: r->names and r->code say so. Errors of
 * gt_symbol_source_load and gt_file_replace. */
int gt_record_names_prepare(struct gt_recording *r, struct gt_error *err);

/* Moves the code map into the recording and puts names into it. */
void gt_record_names_finish(struct gt_recording *r);

/* Removes the code map if it was not moved, and frees. */
void gt_record_names_clear(struct gt_recording *r);

#endif
