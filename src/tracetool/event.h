/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as they are after parsing, ready for the formats: what `vcpu` and `tcg` stand for is
 * written out (a vCPU argument, two events), and each type is one of a few.
 */
#ifndef GT_TRACETOOL_EVENT_H
#define GT_TRACETOOL_EVENT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    GT_EVENT_DECLARED = 10,  /* arguments, at most */
    GT_EVENT_ARGUMENTS = 11, /* those and a vCPU */
};

/* What an argument's type is made of, but for const and pointers. */
enum gt_type_base {
    GT_TYPE_INT,
    GT_TYPE_UINT,
    GT_TYPE_SHORT,
    GT_TYPE_USHORT,
    GT_TYPE_LONG,
    GT_TYPE_ULONG,
    GT_TYPE_LONG_LONG,
    GT_TYPE_ULONG_LONG,
    GT_TYPE_CHAR,
    GT_TYPE_SCHAR,
    GT_TYPE_UCHAR,
    GT_TYPE_BOOL,
    GT_TYPE_VOID,
    GT_TYPE_INT8,
    GT_TYPE_UINT8,
    GT_TYPE_INT16,
    GT_TYPE_UINT16,
    GT_TYPE_INT32,
    GT_TYPE_UINT32,
    GT_TYPE_INT64,
    GT_TYPE_UINT64,
    GT_TYPE_SIZE,
    GT_TYPE_SSIZE,
    GT_TYPE_UINTPTR,
    GT_TYPE_PTRDIFF,
};

struct gt_argument {
    const char *type;       /* as C: "const char *", "unsigned long" */
    const char *name;       /* as declared */
    enum gt_type_base base; /* of what is pointed to, where there are stars */
    unsigned stars;
    bool is_const;  /* the base is */
    bool is_string; /* "char *" or "const char *", spelled so: as the readers of traces see it */
};

struct gt_event {
    const char *path; /* of the events file, as the command named it */
    unsigned line;
    const char *name;
    bool disable, vcpu;
    unsigned n_arguments;
    const struct gt_argument *arguments; /* n_arguments of them, at most GT_EVENT_ARGUMENTS */
    const char *format;                  /* as C: literals and macros of <inttypes.h>; NULL: none */
};

/* The events of all files, in their order; an id of simpletrace-stap is a place here. { 0 } is
 * empty. */
struct gt_event_list {
    struct gt_event *list;
    size_t n, room;
    GStringChunk *strings; /* owns what the events point to */
};

/* A copy that lives as long as the events. */
const char *gt_event_list_string(struct gt_event_list *events, const char *text, size_t length);
/* An empty event at the end. */
struct gt_event *gt_event_list_add(struct gt_event_list *events);
void gt_event_list_free(struct gt_event_list *events);

#endif
