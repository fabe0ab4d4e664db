/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extern.dat, which uftrace has for what others say about a run: the lines of a machine's console,
 * the marks of triggers. A line each, in order of time: `S.NNNNNNNNN text`.
 */
#ifndef GT_RECORDING_TEXTS_EXTERN_DATA_H
#define GT_RECORDING_TEXTS_EXTERN_DATA_H

#include "base/cursor.h"
#include "base/error.h"
#include "base/text.h"

#include <stdint.h>

#define GT_EXTERN_FILE "extern.dat"

enum { GT_EXTERN_LINE_MAX = 500 }; /* bytes of a line's text */

/* Adds a line; control characters and bytes that are not UTF-8 become '?'. */
void gt_recording_extern_put(struct gt_text *out, uint64_t time, const char *text);

/* The time at a line's beginning, and the blank after it. */
bool gt_recording_extern_take_time(struct gt_text_cursor *line, uint64_t *out);

/* Adds lines to the file, or none (an empty text), and puts all of its lines in order; lines of one
 * time stay in their order, the file's before the added ones. Errors of gt_file_read (but that
 * there is no file) and gt_file_replace. */
int gt_recording_extern_add(const char *path, const struct gt_text *lines, struct gt_error *err);

#endif
