/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events after parsing, ready for the formats: `vcpu` and `tcg` are expanded (to a vCPU argument,
 * to two events), and each type is one of enum gt_tracetool_type_base.
 */
#ifndef GT_EVENTS_TRACETOOL_EVENT_H
#define GT_EVENTS_TRACETOOL_EVENT_H

#include "events/tracetool/lexer.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    GT_EVENT_DECLARED = 10,  /* arguments that can be declared, at most */
    GT_EVENT_ARGUMENTS = 11, /* arguments with the vCPU, at most */
};

/* The base of an argument's type, without const and pointers. */
enum gt_tracetool_type_base {
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

struct gt_tracetool_argument {
    const char *type;                 /* in C: "const char *", "unsigned long" */
    const char *name;                 /* as declared */
    enum gt_tracetool_type_base base; /* the base type; of a pointer, the type pointed to */
    unsigned stars;
    bool is_const;  /* the base type is const */
    bool is_string; /* the type is spelled "char *" or "const char *": readers of traces check the
                       spelling */
};

struct gt_tracetool_event {
    const char *path; /* path of the events file as on the command line */
    unsigned line;
    const char *name;
    bool disable, vcpu;
    unsigned n_arguments;
    const struct gt_tracetool_argument
        *arguments;     /* n_arguments arguments, at most GT_EVENT_ARGUMENTS */
    const char *format; /* in C: literals and macros of <inttypes.h>; NULL: none */
};

/* The events of all files, in order; ids of simpletrace-stap are indexes into the list. { 0 } is
 * empty. */
struct gt_tracetool_event_list {
    struct gt_tracetool_event *list;
    size_t n, room;
    GStringChunk *strings; /* memory of the strings of the events */
};

/* Returns a copy that lives as long as the events. */
const char *gt_tracetool_event_list_string(struct gt_tracetool_event_list *events, const char *text,
                                           size_t length);
/* Appends an empty event. */
struct gt_tracetool_event *gt_tracetool_event_list_add(struct gt_tracetool_event_list *events);
void gt_tracetool_event_list_free(struct gt_tracetool_event_list *events);

/* Words with a meaning: words of types, and reserved words of the generated languages. */

enum gt_tracetool_word_kind {
    GT_WORD_OTHER,
    GT_WORD_CONST,
    GT_WORD_UNSIGNED,
    GT_WORD_SIGNED,
    GT_WORD_INT,
    GT_WORD_LONG,
    GT_WORD_SHORT,
    GT_WORD_CHAR,
    GT_WORD_FIXED, /* a type of its own: bool, void, uint8_t */
    GT_WORD_TCG,   /* TCGv, TCGv_i32 and so on: uint64_t */
    GT_WORD_KINDS,
};

/* Returns the role of a token in a type; *fixed is set for GT_WORD_FIXED and GT_WORD_TCG. */
enum gt_tracetool_word_kind gt_tracetool_word_kind(const struct gt_tracetool_token *t,
                                                   enum gt_tracetool_type_base *fixed);

enum gt_tracetool_language {
    GT_LANGUAGE_C, /* and C++ */
    GT_LANGUAGE_D,
    GT_LANGUAGE_STAP,
};

/* True if the name is reserved in that language and needs a `_` appended. */
bool gt_tracetool_word_is_reserved(enum gt_tracetool_language language, const char *name);

/* Types of arguments in the generated languages. */

const char *gt_tracetool_type_in_c(enum gt_tracetool_type_base base);
/* Returns the separator of an argument's type and name: "" for pointers, else a blank. */
const char *gt_tracetool_argument_blank(const struct gt_tracetool_argument *a);

const char *gt_tracetool_type_in_rust(enum gt_tracetool_type_base base);

#endif
