/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in several files, its parts: FILE.1, FILE.2 ... and, the newest, FILE. Each is a
 * complete file of its own: its segments begin with the functions that are open, and it has text
 * files and an index, once it is finished. A block says of which set it is the part, and which one:
 *    PART: u64 number of the set, u32 number of the part from 1 on, u32 0, u64 the most bytes that
 *    the set's files may have, older parts are removed then; 0: no limit
 *
 * FILE is the part that is recorded; when it is big or old enough it gets the name FILE.NUMBER (a
 * link) and an empty one replaces it. So whoever adds to FILE or changes it needs to know no other.
 */
#ifndef GT_CALLS_FILE_SET_H
#define GT_CALLS_FILE_SET_H

#include "calls/file/file.h"

/* Reads which part the file is: number 0: of no set. 1: that is damaged: of the block a gap is
 * left. GT_E_IO, GT_E_NOMEM, GT_E_FORMAT. */
int gt_compact_part_read(struct gt_compact_file *f, struct gt_compact_part *out,
                         struct gt_error *err);
/* The same of a descriptor, or a path, where PART is the first block, as a recorder makes it;
 * number 0: also where it cannot be read. */
struct gt_compact_part gt_compact_part_of(int fd);
struct gt_compact_part gt_compact_part_at(const char *path);
/* True if the path is that of the part alone, FILE.NUMBER. */
bool gt_compact_part_is_named(const char *path, uint32_t number);
/* Makes a file that is the part. Errors of gt_compact_file_create and gt_compact_file_append. */
int gt_compact_part_create(const char *path, const struct gt_compact_part *part,
                           struct gt_error *err);

/* The path of a part: FILE.NUMBER. GT_E_RANGE: it is too long. */
enum { GT_COMPACT_PART_PATH = 4200 };
int gt_compact_part_path(const char *file, uint32_t number, char out[GT_COMPACT_PART_PATH]);
/* The numbers of the files FILE.NUMBER that are there, in order, whatever they are; the caller
 * frees *out. Returns how many; GT_E_IO, GT_E_NOMEM. */
int64_t gt_compact_set_list(const char *file, uint32_t **out, struct gt_error *err);

/* Which part FILE.NUMBER with the highest number is, for where FILE is missing; number 0: there is
 * none. */
struct gt_compact_part gt_compact_set_highest(const char *file);

/* Removes the oldest parts of the set of FILE, but the one of `keep` (0: none), as long as all
 * files and `room` bytes more are beyond `limit`. False: they still are. */
bool gt_compact_set_shorten(const char *file, uint64_t set, uint32_t keep, uint64_t room,
                            uint64_t limit);

/* Bytes of the file, and of its other parts. GT_E_IO, GT_E_NOT_FOUND, GT_E_NOMEM. */
int gt_compact_set_size(const char *path, uint64_t *size);

/* Opens all parts of the set as one file, whose offsets count through all of them; a file of no set
 * as gt_compact_file_open does, and one that has a part's own name, FILE.NUMBER, alone. Of what the
 * set has lost struct gt_compact_file.member says the numbers. GT_E_FORMAT: FILE.NUMBER is not a
 * part of this set; other errors of gt_compact_file_open. */
int gt_compact_set_open(const char *path, struct gt_compact_file *out, struct gt_error *err);

#endif
