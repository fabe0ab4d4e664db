/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts built in memory, and the lines of texts that were read. */
#ifndef GT_BASE_TEXT_H
#define GT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growing text; { 0 } is an empty one. It latches: after an allocation that failed, `failed` is
 * set and every further addition does nothing, so a writer adds all it has and asks once. */
struct gt_text {
    char *data; /* data[len] is 0 once anything was added; NULL before */
    size_t len;
    size_t cap;
    bool failed;
};

void gt_text_printf(struct gt_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gt_text_add(struct gt_text *t, const void *data, size_t n);
/* Makes room for n more bytes and the final 0, for a caller that puts them at data + len and counts
 * them itself. False: the text has failed. */
bool gt_text_reserve(struct gt_text *t, size_t n);
/* Adds a value to a line: control characters become '?', what is not UTF-8 too; at most limit
 * bytes. */
void gt_text_add_value(struct gt_text *t, const char *value, size_t limit);
void gt_text_free(struct gt_text *t);

/* A copy with each newline replaced by 0 and a 0 at the end, for strings that point into it; the
 * caller frees it. NULL: out of memory. */
char *gt_text_copy_lines(const char *text, size_t size);
/* The number of lines, a last one without a newline included. */
size_t gt_text_count_lines(const char *text, size_t size);

#endif
