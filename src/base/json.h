/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON (RFC 8259) written to an output as it is made. The writer puts commas, quotes and escapes,
 * and asserts that values come where JSON has them: in an object each after a key, in an array
 * without one. A value outside any other is a text of its own, which gt_json_end_line ends. There
 * are no blanks; gt_json_newline breaks lines.
 *
 * A caller brackets what it writes with gt_json_resume and gt_json_commit; between them nothing
 * else writes to the output or flushes it. Functions are inline so that in a loop that writes from
 * a copy of the writer on its stack the compiler knows which commas are due and drops the checks.
 */
#ifndef GT_BASE_JSON_H
#define GT_BASE_JSON_H

#include "base/number.h"
#include "base/output.h"

#include <assert.h>

/* How strings show control characters (0x7f is one) and bytes that are not UTF-8. */
enum gt_json_strings {
    GT_JSON_ESCAPE,  /* \u00XX; \udcXX each byte, as Python's surrogateescape: nothing is lost */
    GT_JSON_REPLACE, /* '?'; U+FFFD each byte: names for people */
};

struct gt_json {
    struct gt_output *out;
    char *at; /* between resume and commit: where the text ends in the output's buffer */
    enum gt_json_strings strings;
    uint64_t
        levels;   /* a bit for each open one, the innermost lowest, 1: an object; above them 10 */
    bool more;    /* a comma is due before the next key or value */
    bool newline; /* a newline is due before the next key, value or end */
    bool named;   /* a key was written, its value is due */
};

enum {
    GT_JSON_INLINE = 256, /* longer names are copied out of line */
    GT_JSON_OUTSIDE = 2,  /* of `levels`: nothing is open */
};

/* For the functions below: a string in its quotes; n bytes as they are; the output's empty buffer,
 * its bytes up to `at` being written. They return where the next byte goes. */
char *gt_json_put_string(struct gt_output *out, char *at, enum gt_json_strings how,
                         const char *text, size_t n);
char *gt_json_put_bytes(struct gt_output *out, char *at, const char *text, size_t n);
char *gt_json_put_out(struct gt_output *out, const char *at);

static inline void gt_json_init(struct gt_json *j, struct gt_output *out,
                                enum gt_json_strings strings)
{
    *j = (struct gt_json){.out = out, .strings = strings, .levels = GT_JSON_OUTSIDE};
}

static inline void gt_json_resume(struct gt_json *j)
{
    j->at = gt_output_room(j->out, 0);
}

static inline void gt_json_commit(struct gt_json *j)
{
    gt_output_end(j->out, j->at);
    j->at = NULL;
}

/* Room for n bytes, of at most GT_JSON_INLINE + 8, after the separator that is due before them. */
static inline char *gt_json_room(struct gt_json *j, size_t n)
{
    assert(j->at);
    if ((size_t)(j->out->buf + GT_OUTPUT_SIZE - j->at) < n + 2)
        j->at = gt_json_put_out(j->out, j->at);
    if (j->more)
        *j->at++ = ',';
    if (j->newline)
        *j->at++ = '\n';
    j->newline = false;
    return j->at;
}

/* The same for a value. */
static inline char *gt_json_value_room(struct gt_json *j, size_t n)
{
    assert((j->levels & 1) == j->named);
    char *p = gt_json_room(j, n);
    j->more = true;
    j->named = false;
    return p;
}

/* Up to 62 objects and arrays may be open. */
static inline void gt_json_begin(struct gt_json *j, bool object)
{
    assert((j->levels & 1) == j->named);
    assert(j->levels >> 63 == 0 && (j->levels != GT_JSON_OUTSIDE || !j->more));
    *gt_json_room(j, 1) = object ? '{' : '[';
    j->at++;
    j->levels = j->levels << 1 | object;
    j->more = j->named = false;
}

static inline void gt_json_end(struct gt_json *j, bool object)
{
    assert(j->levels != GT_JSON_OUTSIDE && (j->levels & 1) == object && !j->named);
    j->more = false;
    *gt_json_room(j, 1) = object ? '}' : ']';
    j->at++;
    j->levels >>= 1;
    j->more = true;
}

static inline void gt_json_begin_object(struct gt_json *j)
{
    gt_json_begin(j, true);
}

static inline void gt_json_end_object(struct gt_json *j)
{
    gt_json_end(j, true);
}

static inline void gt_json_begin_array(struct gt_json *j)
{
    gt_json_begin(j, false);
}

static inline void gt_json_end_array(struct gt_json *j)
{
    gt_json_end(j, false);
}

/* What comes next, or the end of the innermost, stands on a new line. */
static inline void gt_json_newline(struct gt_json *j)
{
    j->newline = true;
}

/* A text of its own is complete: the next one stands on a new line. */
static inline void gt_json_end_line(struct gt_json *j)
{
    assert(j->levels == GT_JSON_OUTSIDE);
    j->more = false;
    *gt_json_room(j, 1) = '\n';
    j->at++;
}

/* Text that needs no escape, in quotes. */
static inline char *gt_json_put_name(struct gt_output *out, char *p, const char *text, size_t n)
{
    *p++ = '"';
    if (n > GT_JSON_INLINE) {
        p = gt_json_put_bytes(out, p, text, n);
    } else {
        memcpy(p, text, n);
        p += n;
    }
    *p++ = '"';
    return p;
}

/* The name, of any length, is a literal or an identifier: it needs no escape. */
static inline void gt_json_key(struct gt_json *j, const char *name)
{
    assert((j->levels & 1) && !j->named);
    size_t n = strlen(name);
    char *p = gt_json_put_name(j->out, gt_json_room(j, GT_JSON_INLINE + 3), name, n);
    *p = ':';
    j->at = p + 1;
    j->more = false;
    j->named = true;
}

/* The same as a value. */
static inline void gt_json_name(struct gt_json *j, const char *name)
{
    size_t n = strlen(name);
    j->at = gt_json_put_name(j->out, gt_json_value_room(j, GT_JSON_INLINE + 2), name, n);
}

/* n bytes, of any number and content. */
static inline void gt_json_string(struct gt_json *j, const char *text, size_t n)
{
    j->at = gt_json_put_string(j->out, gt_json_value_room(j, 0), j->strings, text, n);
}

static inline void gt_json_text(struct gt_json *j, const char *text)
{
    gt_json_string(j, text, strlen(text));
}

static inline void gt_json_u64(struct gt_json *j, uint64_t v)
{
    j->at = gt_text_decimal_put(gt_json_value_room(j, GT_DECIMAL_SIZE), v);
}

static inline void gt_json_i64(struct gt_json *j, int64_t v)
{
    j->at = gt_text_decimal_put_signed(gt_json_value_room(j, GT_DECIMAL_SIZE), v);
}

/* v / 1000, with three decimals. */
static inline void gt_json_thousandths(struct gt_json *j, uint64_t v)
{
    j->at = gt_text_decimal_put_thousandths(gt_json_value_room(j, GT_DECIMAL_SIZE), v);
}

/* A string: "0x" and the number in hex. */
static inline void gt_json_hex(struct gt_json *j, uint64_t v)
{
    char *p = gt_json_value_room(j, 3 + 16 + 1);
    memcpy(p, "\"0x", 3);
    p = gt_text_hex_put(p + 3, v);
    *p = '"';
    j->at = p + 1;
}

/* A number that the caller formatted as JSON has them, of at most GT_JSON_INLINE bytes. */
static inline void gt_json_number(struct gt_json *j, const char *number)
{
    size_t n = strlen(number);
    assert(n <= GT_JSON_INLINE);
    char *p = gt_json_value_room(j, n);
    memcpy(p, number, n);
    j->at = p + n;
}

static inline void gt_json_bool(struct gt_json *j, bool v)
{
    gt_json_number(j, v ? "true" : "false");
}

/* A key with its value. */
static inline void gt_json_member_u64(struct gt_json *j, const char *name, uint64_t v)
{
    gt_json_key(j, name);
    gt_json_u64(j, v);
}

static inline void gt_json_member_text(struct gt_json *j, const char *name, const char *text)
{
    gt_json_key(j, name);
    gt_json_text(j, text);
}

#endif
