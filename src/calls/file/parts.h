/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: what the parts of a file need of each other. */
#ifndef GT_CALLS_FILE_PARTS_H
#define GT_CALLS_FILE_PARTS_H

#include "calls/file/file.h"

/* The head of a file of our version. */
void gt_compact_file_head(uint8_t out[GT_COMPACT_FILE_HEAD]);
/* n bytes at `at`. GT_E_TRUNC: the file ends before; GT_E_IO. */
int gt_compact_pread(const struct gt_compact_file *f, void *data, size_t n, uint64_t at,
                     struct gt_error *err);
/* Reads the file's head. GT_E_FORMAT, GT_E_UNSUPPORTED, GT_E_IO. */
int gt_compact_read_head(struct gt_compact_file *f, struct gt_error *err);
/* False: no memory. */
bool gt_compact_add_block(struct gt_compact_file *f, const struct gt_compact_block *block);
bool gt_compact_add_gap(struct gt_compact_file *f, uint64_t at, uint64_t size);
/* Reads the heads of all blocks after those that are known. GT_E_IO, GT_E_NOMEM. */
int gt_compact_scan(struct gt_compact_file *f, struct gt_error *err);
/* Fills in the blocks that the last index and those before it have; none where there is no index or
 * it is not valid. 0, GT_E_IO, GT_E_NOMEM. */
int gt_compact_index_load(struct gt_compact_file *f, struct gt_error *err);
/* Opens a file to add to it, alone. A descriptor; GT_E_IO, GT_E_NOT_FOUND. */
int gt_compact_lock(const char *path, struct gt_error *err);
/* Appends a block. Where it does not fit the file stays as it was. GT_E_IO. */
int gt_compact_append_to(int fd, const char *path, const void *block, size_t size,
                         struct gt_error *err);
/* The same; returns 0 or an errno value. */
int gt_compact_append_fd(int fd, const void *block, size_t size);

#endif
