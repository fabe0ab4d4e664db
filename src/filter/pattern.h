/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of functions:
 *
 *     pattern = [MODULE ":"] name | [MODULE ":"] "0x" ADDRESS | FILE ":" LINE
 *     name    = NAME | REGEX | GLOB
 *
 * A name without any of .?*+-^$|()[]{} is one name, as is one that begins with "operator "; any
 * other is a regular expression that matches a part of a name, or, by choice, a glob that matches
 * the whole. MODULE is the base name of a module's file, or its beginning before a dot or hyphen
 * ("libc" is libc.so.6), or a glob; "kernel" is the kernel, "PLT" the stubs of library functions.
 * The colon is one that is neither part of "::" nor inside brackets nor after a backslash. An
 * ADDRESS is one where the function runs; with MODULE, one in the module's file. FILE is a path or
 * its last components; LINE is one of the function's, or where these are not known its first.
 */
#ifndef GT_FILTER_PATTERN_H
#define GT_FILTER_PATTERN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The known properties of a function. Texts may be NULL. */
struct gt_filter_function {
    const char *name;        /* NULL: code without a symbol */
    const char *const *also; /* other forms of its name, until NULL; may be NULL */
    const char *module;      /* path of its file */
    uint64_t address;        /* where it runs */
    uint64_t file_address;   /* the same in the module's file */
    uint64_t size;           /* bytes; 0: not known */
    const char *file;        /* source file */
    uint32_t line;           /* its first line; 0: not known */
    const char *lines;       /* "10-20,30": all its lines; NULL: only the first is known */
    const char *level;       /* privilege level: "NS-EL1", "U", "Ring3" */
    bool kernel;             /* it is the kernel's, or a module's of it */
    bool plt;                /* the stub of a library function */
};

enum gt_filter_match {
    GT_FILTER_MATCH_REGEX, /* uftrace's default */
    GT_FILTER_MATCH_GLOB,
};
/* "regex", "glob", until NULL. */
extern const char *const gt_filter_match_names[];
/* By its name; NULL: the default. */
enum gt_filter_match gt_filter_match_of(const char *name);

struct gt_filter_pattern;

/* Parses the n bytes at `text`. GT_E_USAGE, GT_E_RANGE: *at is the offset of the error in the text.
 * GT_E_NOMEM. */
int gt_filter_pattern_parse(const char *text, size_t n, enum gt_filter_match match,
                            struct gt_filter_pattern **out, size_t *at, struct gt_error *err);
/* Parses a pattern of source files: a path's components, or an expression or glob of the path. */
int gt_filter_pattern_parse_file(const char *text, size_t n, enum gt_filter_match match,
                                 struct gt_filter_pattern **out, size_t *at, struct gt_error *err);
void gt_filter_pattern_free(struct gt_filter_pattern *p); /* NULL is fine */

/* Several threads may match. */
bool gt_filter_pattern_match(const struct gt_filter_pattern *p, const struct gt_filter_function *f);
/* Of how many texts is not known whether they match: see regex.h. */
uint64_t gt_filter_pattern_undecided(const struct gt_filter_pattern *p);

/* The name if the pattern is one name of any module; else NULL. */
const char *gt_filter_pattern_exact(const struct gt_filter_pattern *p);
/* The pattern without its module: what names are compared with to find near ones. */
const char *gt_filter_pattern_name(const struct gt_filter_pattern *p);
/* It is about source lines. */
bool gt_filter_pattern_needs_lines(const struct gt_filter_pattern *p);

#endif
