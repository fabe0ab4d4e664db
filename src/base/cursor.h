/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking a text apart: a cursor over it, which needs no 0 at its end. A take_ function consumes
 * what it names and returns true, or consumes nothing.
 */
#ifndef GT_BASE_CURSOR_H
#define GT_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_cursor {
    const char *at;
    size_t left;
};

bool gt_take(struct gt_cursor *c, const char *literal);
/* The next line without its newline; false where nothing is left. *whole: it had a newline. */
bool gt_take_line(struct gt_cursor *text, struct gt_cursor *line, bool *whole);
/* All digits that follow, at least one; zeros may lead, how many ever: who limits the digits
 * compares `left`. No sign, no "0x". A value above max is not taken. */
bool gt_take_dec(struct gt_cursor *c, uint64_t max, uint64_t *out);
bool gt_take_hex(struct gt_cursor *c, uint64_t max, uint64_t *out);
/* The same where 'A' to 'F' are no digits. */
bool gt_take_lower_hex(struct gt_cursor *c, uint64_t max, uint64_t *out);
/* Up to the next space or the end; never empty. */
bool gt_take_word(struct gt_cursor *c, struct gt_cursor *word);

/* One line to show in a message: its first bytes, what does not print as '?'. */
const char *gt_cursor_show(const struct gt_cursor *line, char out[64]);
bool gt_is_hex(const char *s, size_t n);

#endif
