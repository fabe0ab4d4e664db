/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON (RFC 8259) in a text that stays where it is: a value is a piece of it. A value that
 * gt_monitor_json_parse accepted is well-formed all through, at most GT_MONITOR_JSON_DEPTH deep,
 * and its members can be walked without further checks.
 */
#ifndef GT_EVENTS_MONITOR_JSON_H
#define GT_EVENTS_MONITOR_JSON_H

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
    const char *at; /* not terminated */
    size_t n;
};

/* The value at the start of the text, after blanks: where it ends, or NULL with *why a phrase and
 * *where the place. */
const char *gt_monitor_json_parse(const char *text, size_t n, struct gt_monitor_json *out,
                                  const char **why, const char **where);

/* The members of an object: `at` starts as the object's. False behind the last. */
bool gt_monitor_json_member(const struct gt_monitor_json *object, const char **at,
                            struct gt_monitor_json *key, struct gt_monitor_json *value);

/* A string's text as UTF-8, terminated: its length, or -1 if it does not fit or holds a NUL. */
int gt_monitor_json_text(const struct gt_monitor_json *string, char *out, size_t size);

#endif
