/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts built in memory, lines of texts that were read; escapes, UTF-8 and globs. */
#ifndef GT_BASE_TEXT_H
#define GT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/*
 * Names from recordings, shown on a terminal or in lines: control characters and bytes that are not
 * UTF-8 appear as \xNN, each byte. So a name cannot end a line, move the cursor or change colours.
 */

enum { GT_ESCAPE_GROWTH = 4 }; /* bytes that one byte becomes, at most */

/* Puts the text of n bytes at p, which has room for GT_ESCAPE_GROWTH * n; returns its end. */
char *gt_text_escape_put(char *p, const char *text, size_t n);

/* UTF-8 (RFC 3629). */

/* Returns the length of the sequence at s, which has `left` bytes; 0: invalid. */
size_t gt_text_utf8_length(const char *s, size_t left);

/* Text between quotes: the bytes that need no escape there, whatever the language and its quotes:
 * printable ASCII other than the backslash, the quote and the double quote. */

static inline bool gt_text_plain_is(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '\\' && c != '\'' && c != '"';
}

/* All of 8 bytes are plain. */
static inline bool gt_text_plain_are(uint64_t v)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
#define HAS_ZERO(x) (((x)-ones) & ~(x))
    uint64_t found = v | (v - ones * ' ') | (v + ones) | HAS_ZERO(v ^ ones * '\\') |
                     HAS_ZERO(v ^ ones * '\'') | HAS_ZERO(v ^ ones * '"');
#undef HAS_ZERO
    return !(found & tops);
}

/* Copies the plain bytes at the start of the text; returns how many it copied. */
static inline size_t gt_text_plain_copy(char *p, const char *text, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t v;
        memcpy(&v, text + i, 8);
        if (!gt_text_plain_are(v))
            break;
        memcpy(p + i, &v, 8);
    }
    for (; i < n && gt_text_plain_is((unsigned char)text[i]); i++)
        p[i] = text[i];
    return i;
}

/* Globs over bytes: `*` any of them, `?` one; every other one is itself. Neither text need be
 * UTF-8: names are a guest's. */

bool gt_text_glob_fits(const char *glob, const char *text);

#endif
