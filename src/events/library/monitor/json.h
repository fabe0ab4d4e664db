/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON (RFC 8259) parsed in place: a value is a part of the text. A value that
 * gt_monitor_json_parse accepted is well-formed, nested at most GT_MONITOR_JSON_DEPTH deep, and its
 * members can be read without further checks.
 */
#ifndef GT_EVENTS_LIBRARY_MONITOR_JSON_H
#define GT_EVENTS_LIBRARY_MONITOR_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum { GT_MONITOR_JSON_DEPTH = 32 };

enum gt_monitor_json_type {
    GT_MONITOR_JSON_NULL,
    GT_MONITOR_JSON_FALSE,
    GT_MONITOR_JSON_TRUE,
    GT_MONITOR_JSON_NUMBER,
    GT_MONITOR_JSON_STRING,
    GT_MONITOR_JSON_ARRAY,
    GT_MONITOR_JSON_OBJECT,
};

struct gt_monitor_json {
    enum gt_monitor_json_type type;
    const char *at; /* not NUL-terminated */
    size_t n;
};

/* Parses the value at the start of the text, after blanks. Returns its end; on error NULL, with a
 * phrase in *why and the place in *where. */
const char *gt_monitor_json_parse(const char *text, size_t n, struct gt_monitor_json *out,
                                  const char **why, const char **where);

/* Reads the next member of an object; begin with *at = object->at. False: there is none. */
bool gt_monitor_json_member(const struct gt_monitor_json *object, const char **at,
                            struct gt_monitor_json *key, struct gt_monitor_json *value);

/* Decodes a string to NUL-terminated UTF-8. Returns its length, or -1 if it does not fit or
 * contains a NUL. */
int gt_monitor_json_text(const struct gt_monitor_json *string, char *out, size_t size);

#endif
