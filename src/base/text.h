/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts built in memory, and the lines of texts that were read. */
#ifndef GT_BASE_TEXT_H
#define GT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growing text; { 0 } is an empty one. It latches: a failed allocation sets `failed`, and every
 * further addition does nothing; so a writer adds everything and checks once. */
struct gt_text {
    char *data; /* data[len] is 0; NULL until the first addition */
    size_t len;
    size_t cap;
    bool failed;
};

void gt_text_printf(struct gt_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gt_text_add(struct gt_text *t, const void *data, size_t n);
/* Makes room for n more bytes and the final NUL; the caller writes them at data + len and adds them
 * to len. False: `failed` is set. */
bool gt_text_reserve(struct gt_text *t, size_t n);
/* Appends a value to a line, at most `limit` bytes; control characters and bytes that are not UTF-8
 * become '?'. */
void gt_text_add_value(struct gt_text *t, const char *value, size_t limit);
void gt_text_free(struct gt_text *t);

/* Returns a copy with each newline replaced by NUL and a NUL at the end, for strings that point
 * into it; the caller frees it. NULL: out of memory. */
char *gt_text_copy_lines(const char *text, size_t size);
/* Returns the number of lines, including a last line without a newline. */
size_t gt_text_count_lines(const char *text, size_t size);

#endif
