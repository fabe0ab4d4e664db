/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text files of a recording, between a compact file and a directory: while it is recorded or
 * changed they are files, read and written by the code that knows directories.
 */
#ifndef GT_CALLS_FILE_GATHER_H
#define GT_CALLS_FILE_GATHER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends the directory's text files to the file, then an index. The file's former ones at its end
 * are cut off first: as long as the directory is there nothing is lost. Symbols and source lines
 * are kept of functions that ran, but in the newest of several parts (set.h), whose text files have
 * the names of all. Records (TID.dat) and files whose names begin with a dot are not text files.
 * No process adds to the file meanwhile. `limit`: bytes that the file may have, 0: any; a set's is
 * its own. Where all would be more the newest part, too, has only functions that ran, then the
 * oldest parts are removed, and at last source lines and symbols are left out. Errors of
 * gt_compact_file_open, gt_file_read, gt_compact_text_pack and gt_compact_file_append. */
int gt_compact_gather(const char *dir, const char *path, uint64_t limit, struct gt_error *err);

/* Bytes that a file of no set would get of text files now, without an index. Errors of
 * gt_compact_file_open, gt_file_read and gt_compact_text_pack. */
int gt_compact_gather_size(const char *dir, const char *path, uint64_t *bytes,
                           struct gt_error *err);

/* Writes the file's text files into the directory, which exists; where the file is missing the
 * texts of the other parts of its set, with the symbols of all. Damaged text files are reported and
 * left out. `repairs`: so are bytes that are not a block, and an empty file is in the place of a
 * damaged one that gt_uftrace_dir_repair knows how to mend. Errors of gt_compact_file_open and
 * gt_file_replace.
 */
int gt_compact_scatter(const char *path, const char *dir, bool repairs,
                       const struct gt_error_notices *notices, struct gt_error *err);

#endif
