/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the codecs of text: a cursor over it, which is never taken to end with a 0, and what
 * their writers share. A take_ function consumes what it names and returns true, or consumes
 * nothing.
 */
#ifndef GT_FORMAT_UFTRACE_TEXT_H
#define GT_FORMAT_UFTRACE_TEXT_H

#include "base/file.h"

struct gt_cursor {
    const char *at;
    size_t left;
};

bool gt_take(struct gt_cursor *c, const char *literal);
/* The next line without its newline; false where nothing is left. *whole: it had a newline. */
bool gt_take_line(struct gt_cursor *text, struct gt_cursor *line, bool *whole);
/* At least one digit, no sign, no "0x"; a value above max is not taken. */
bool gt_take_dec(struct gt_cursor *c, uint64_t max, uint64_t *out);
bool gt_take_hex(struct gt_cursor *c, uint64_t max, uint64_t *out);
/* Up to the next space or the end; never empty. */
bool gt_take_word(struct gt_cursor *c, struct gt_cursor *word);

/* A copy with each newline replaced by 0 and a 0 at the end, for strings that point into it. */
char *gt_text_copy_lines(const char *text, size_t size);
/* The number of lines, a last one without a newline included. */
size_t gt_text_count_lines(const char *text, size_t size);
/* One line to show in a message: its first bytes, what does not print as '?'. */
const char *gt_text_show(const struct gt_cursor *line, char out[64]);

/* Adds a value to a line: control characters become '?', what is not UTF-8 too; at most limit
 * bytes. */
void gt_text_add_value(struct gt_text *t, const char *value, size_t limit);
bool gt_is_hex(const char *s, size_t n);

#endif
