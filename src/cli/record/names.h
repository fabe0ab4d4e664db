/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for a recorded machine, from the files of --symbols and those on its QEMU's command line:
 * before the run as a code map for the plugin, after it for the recorded addresses.
 */
#ifndef GT_CLI_RECORD_NAMES_H
#define GT_CLI_RECORD_NAMES_H

#include "cli/record/recording.h"

/* Reads the files of --symbols: an unreadable one is an error before the run. Also reads the files
 * with functions on QEMU's command line, writes the code map of all files to OUTPUT.code.map, and
 * sets r->names and r->code. Errors of gt_image_symbol_source_load and gt_file_replace. */
int gt_record_names_prepare(struct gt_record_recording *r, struct gt_error *err);

/* The files with functions, as far as they are known before the run: a machine's of --symbols and
 * of QEMU's command line; the program and its libraries. The caller frees it (g_ptr_array_unref).
 */
GPtrArray *gt_record_names_paths(const struct gt_record_recording *r);

/* The calling convention of the machine's kernel, where that is not its architecture's: the
 * plugins' abi=. NULL: it is. */
const char *gt_record_names_abi(const struct gt_record_recording *r);

/* Moves the code map into the recording (--last: adds it) and names its addresses. With --last it
 * is called for each snapshot. */
void gt_record_names_finish(struct gt_record_recording *r);

/* Removes the code map if it was not moved, and frees r->names. */
void gt_record_names_clear(struct gt_record_recording *r);

#endif
