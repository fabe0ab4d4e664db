/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cursor over text that need not end with a NUL. A gt_text_take_ function consumes what it names
 * and returns true, or consumes nothing and returns false.
 */
#ifndef GT_BASE_CURSOR_H
#define GT_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_text_cursor {
    const char *at;
    size_t left;
};

bool gt_text_take(struct gt_text_cursor *c, const char *literal);
/* The next line without its newline; false at the end. *whole: the line had a newline. */
bool gt_text_take_line(struct gt_text_cursor *text, struct gt_text_cursor *line, bool *whole);
/* A number: all digits that follow, at least one, at most max in value; without sign or "0x".
 * Leading zeros are not limited: a caller that limits digits compares `left`. */
bool gt_text_take_dec(struct gt_text_cursor *c, uint64_t max, uint64_t *out);
bool gt_text_take_hex(struct gt_text_cursor *c, uint64_t max, uint64_t *out);
/* The same, but 'A' to 'F' are not digits. */
bool gt_text_take_lower_hex(struct gt_text_cursor *c, uint64_t max, uint64_t *out);
/* The bytes up to the next space or the end; at least one. */
bool gt_text_take_word(struct gt_text_cursor *c, struct gt_text_cursor *word);

/* Returns the first bytes of a line for a message; unprintable characters become '?'. */
const char *gt_text_cursor_show(const struct gt_text_cursor *line, char out[64]);
bool gt_text_is_hex(const char *s, size_t n);

#endif
