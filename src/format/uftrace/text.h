/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers of the text codecs: a cursor over text that need not end with a NUL, and functions for
 * writers. A gt_take_ function consumes what it names and returns true, or consumes nothing and
 * returns false.
 */
#ifndef GT_FORMAT_UFTRACE_TEXT_H
#define GT_FORMAT_UFTRACE_TEXT_H

#include "base/file.h"

struct gt_cursor {
    const char *at;
    size_t left;
};

bool gt_take(struct gt_cursor *c, const char *literal);
/* The next line without its newline; false at the end. *whole: the line had a newline. */
bool gt_take_line(struct gt_cursor *text, struct gt_cursor *line, bool *whole);
/* A number of at least one digit, without sign or "0x", at most max. */
bool gt_take_dec(struct gt_cursor *c, uint64_t max, uint64_t *out);
bool gt_take_hex(struct gt_cursor *c, uint64_t max, uint64_t *out);
/* The bytes up to the next space or the end; at least one. */
bool gt_take_word(struct gt_cursor *c, struct gt_cursor *word);

/* Returns a copy with each newline replaced by NUL and a NUL at the end, for strings that point
 * into it. */
char *gt_text_copy_lines(const char *text, size_t size);
/* Returns the number of lines, including a last line without a newline. */
size_t gt_text_count_lines(const char *text, size_t size);
/* Returns the first bytes of a line for a message; unprintable characters become '?'. */
const char *gt_text_show(const struct gt_cursor *line, char out[64]);

/* Returns the length of the UTF-8 sequence at s, which has `left` bytes; 0: invalid. */
size_t gt_utf8_length(const char *s, size_t left);
/* Appends a value to a line, at most `limit` bytes; control characters and bytes that are not UTF-8
 * become '?'. */
void gt_text_add_value(struct gt_text *t, const char *value, size_t limit);
bool gt_is_hex(const char *s, size_t n);

#endif
