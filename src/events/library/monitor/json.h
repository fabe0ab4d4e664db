/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON (RFC 8259) parsed in place: a value is a part of the text. A value that
 * gt_events_monitor_json_parse accepted is well-formed, nested at most GT_MONITOR_JSON_DEPTH deep,
 * and its members can be read without further checks.
 */
#ifndef GT_EVENTS_LIBRARY_MONITOR_JSON_H
#define GT_EVENTS_LIBRARY_MONITOR_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum { GT_MONITOR_JSON_DEPTH = 32 };

enum gt_events_monitor_json_type {
    GT_MONITOR_JSON_NULL,
    GT_MONITOR_JSON_FALSE,
    GT_MONITOR_JSON_TRUE,
    GT_MONITOR_JSON_NUMBER,
    GT_MONITOR_JSON_STRING,
    GT_MONITOR_JSON_ARRAY,
    GT_MONITOR_JSON_OBJECT,
};

struct gt_events_monitor_json {
    enum gt_events_monitor_json_type type;
    const char *at; /* not NUL-terminated */
    size_t n;
};

/* Parses the value at the start of the text, after blanks. Returns its end; on error NULL, with a
 * phrase in *why and the place in *where. */
const char *gt_events_monitor_json_parse(const char *text, size_t n,
                                         struct gt_events_monitor_json *out, const char **why,
                                         const char **where);

/* Reads the next member of an object; begin with *at = object->at. False: there is none. */
bool gt_events_monitor_json_member(const struct gt_events_monitor_json *object, const char **at,
                                   struct gt_events_monitor_json *key,
                                   struct gt_events_monitor_json *value);

/* Decodes a string to NUL-terminated UTF-8. Returns its length, or -1 if it does not fit or
 * contains a NUL. */
int gt_events_monitor_json_text(const struct gt_events_monitor_json *string, char *out,
                                size_t size);

/* Where a client's message ends: one that begins with a brace where its brackets close, as in QMP,
 * any other at the newline. */

/* The search in a message that has not come whole yet. Zero: at its beginning. */
struct gt_events_monitor_scan {
    size_t scanned;       /* bytes that were searched */
    unsigned depth;       /* open brackets there */
    bool quoted, escaped; /* it is in a string, after a backslash */
};

/* True: the brackets close, *end is after them. `in` has `fill` bytes of the message. */
bool gt_events_monitor_scan_object(struct gt_events_monitor_scan *s, const char *in, size_t fill,
                                   size_t *end);
/* True: there is a newline, *end is after it; else after all there is. */
bool gt_events_monitor_scan_line(struct gt_events_monitor_scan *s, const char *in, size_t fill,
                                 size_t *end);
/* The number of blanks and newlines at the beginning. */
size_t gt_events_monitor_blanks(const char *in, size_t fill);

/* A growing text for the monitor's answers. It latches: a failed allocation, or a text beyond the
 * limit, sets `failed`, and nothing more is added. { 0 } is an empty text. */

enum { GT_MONITOR_TEXT_LIMIT = 64 << 20 };

struct gt_events_monitor_text {
    char *data; /* data[n] is 0; NULL until the first addition */
    size_t n, room;
    bool failed;
};

void gt_events_monitor_add(struct gt_events_monitor_text *t, const void *data, size_t n);
void gt_events_monitor_puts(struct gt_events_monitor_text *t, const char *text);
void gt_events_monitor_printf(struct gt_events_monitor_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* How many of n bytes the character at their beginning has; 0: it is not UTF-8. */
size_t gt_events_monitor_utf8(const char *text, size_t n);
/* Appends a JSON string, with quotes and escapes. Bytes that are not UTF-8, as of a character that
 * was cut, become '?'. */
void gt_events_monitor_add_json(struct gt_events_monitor_text *t, const char *text);
void gt_events_monitor_free(struct gt_events_monitor_text *t);

/* Appends this version as QMP has QEMU's: an object with numbers and the package's name. */
void gt_events_monitor_add_version(struct gt_events_monitor_text *t);

#endif
