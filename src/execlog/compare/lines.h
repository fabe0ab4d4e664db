/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the ends of lines of text, many bytes at a time. */
#ifndef GT_EXECLOG_COMPARE_LINES_H
#define GT_EXECLOG_COMPARE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Counts newlines. */
uint64_t gt_diff_lines_count(const char *text, size_t n);
/* Returns the size of the leading lines that begin with the same `prefix` bytes as the first line;
 * prefix is at most n; 0: the size of the first line. The last line may have no newline. */
size_t gt_diff_lines_alike(const char *text, size_t n, size_t prefix);

#endif
