/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where lines of text end, many bytes at a time. */
#ifndef GT_ANALYSIS_COMPARE_LINES_H
#define GT_ANALYSIS_COMPARE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Newlines. */
uint64_t gt_diff_lines_count(const char *text, size_t n);
/* The size of the first lines, all of which begin with the bytes that the first one begins with.
 * prefix: how many of these, at most n; 0: the first line alone. The last line may have no newline.
 */
size_t gt_diff_lines_alike(const char *text, size_t n, size_t prefix);

#endif
