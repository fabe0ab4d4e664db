/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 (RFC 3629). */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include <stddef.h>

/* Returns the length of the sequence at s, which has `left` bytes; 0: invalid. */
size_t gt_utf8_length(const char *s, size_t left);

#endif
