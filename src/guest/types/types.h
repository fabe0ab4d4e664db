/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A graph of C and C++ types, whatever described them (DWARF, BTF, declarations).
 *
 * A type is a number in its graph; 0 is void; a number that the graph does not have is a type of
 * kind GT_TYPE_UNKNOWN. Types may be cyclic: whoever follows `of` or members counts steps. A graph
 * may stand on another one, as a kernel module's on the kernel's: then the numbers of the base come
 * first, and the base must outlive it.
 *
 * Memory is bounded (GT_TYPES_MAX, GT_TYPE_PARTS_MAX, GT_TYPE_NAMES_MAX). An addition that does not
 * fit or finds no memory latches `failed`; further additions do nothing, so that a reader adds
 * everything and checks once.
 */
#ifndef GT_GUEST_TYPES_TYPES_H
#define GT_GUEST_TYPES_TYPES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_TYPES_MAX ((size_t)1 << 22) /* types of a graph */
#define GT_TYPE_PARTS_MAX                                                                          \
    ((size_t)1 << 24) /* members, enumerators and parameters of a graph, each */
#define GT_TYPE_NAMES_MAX ((size_t)256 << 20) /* bytes of names */
#define GT_TYPE_NAME_MAX  1023                /* bytes of one name; longer ones are cut */
#define GT_TYPE_STEPS     64                  /* typedefs and qualifiers in a row, nested structs */

#define GT_TYPE_NONE UINT32_MAX /* no graph has that number */

enum gt_type_kind {
    GT_TYPE_UNKNOWN,
    GT_TYPE_VOID,
    GT_TYPE_INT,
    GT_TYPE_BOOL,
    GT_TYPE_CHAR, /* C's char: an element of strings */
    GT_TYPE_FLOAT,
    GT_TYPE_COMPLEX, /* two floats of half its size each */
    GT_TYPE_ENUM,
    GT_TYPE_POINTER,
    GT_TYPE_STRUCT, /* or class */
    GT_TYPE_UNION,
    GT_TYPE_ARRAY,
    GT_TYPE_VECTOR,
    GT_TYPE_FUNCTION,
    GT_TYPE_TYPEDEF, /* or qualifier, without a name */
};

struct gt_type {
    const char *name; /* "": none. Printable: control characters are '?' */
    uint32_t size;    /* bytes; arrays and typedefs: see gt_type_size */
    uint32_t of; /* pointer: target; array, vector: element; typedef: its type; function: result */
    uint32_t first; /* private: index of the first member, enumerator or parameter */
    uint32_t n;     /* members, enumerators or parameters; array, vector: elements */
    uint16_t align; /* bytes, as the source says; 0: that of its kind and members */
    uint8_t kind;   /* enum gt_type_kind */
    bool is_signed;
    bool is_flags;     /* enum: its values are bits that can be combined */
    bool cxx;          /* struct, union: of a C++ unit, whose empty classes have size 1 */
    bool by_reference; /* C++ class that is passed by its address: it has a non-trivial copy */
    bool incomplete;   /* struct, union, enum: only its name is known */
    bool variadic;     /* function: more arguments than parameters */
    bool extended;     /* float: x87's 80 bits */
};

struct gt_type_member {
    const char *name; /* "": anonymous, or a base class */
    uint64_t bit;     /* offset in bits */
    uint32_t type;
    uint16_t bits;   /* width of a bit field; 0: an ordinary member */
    uint16_t align;  /* bytes, as the source says; 0: its type's */
    bool base;       /* base class */
    bool is_virtual; /* base class, whose place is not known before the program runs */
};

struct gt_type_value { /* enumerator */
    const char *name;
    uint64_t value; /* sign-extended if the enum is signed */
};

struct gt_type_param {
    const char *name; /* "": none */
    uint32_t type;
};

struct gt_types;

/* NULL: out of memory. base: NULL, or the graph whose numbers come first. */
struct gt_types *gt_types_new(const struct gt_types *base);
void gt_types_free(struct gt_types *t);
/* GT_OK; GT_E_NOMEM, GT_E_RANGE: an addition failed. */
int gt_types_status(const struct gt_types *t);
/* Latches a failure of whoever fills the graph. */
void gt_types_fail(struct gt_types *t, int status);
/* Types, the base's included; the next one has this number. */
uint32_t gt_types_count(const struct gt_types *t);

/* Returns a printable copy that lives as long as the graph; "" after a failure. */
const char *gt_types_name(struct gt_types *t, const char *text, size_t n);
/* The graph frees these bytes (malloc) with itself: the names of a reader that point into them. */
void gt_types_keep(struct gt_types *t, void *bytes);

/* Appends a type and returns its number; 0 after a failure. `first` and, except for arrays and
 * vectors, `n` are ignored. */
uint32_t gt_types_add(struct gt_types *t, const struct gt_type *type);
/* Replaces a type of this graph, not of its base. */
void gt_types_set(struct gt_types *t, uint32_t id, const struct gt_type *type);
/* Append to the type `id`; all parts of one type come in a row, before another one's of the same
 * sort. */
void gt_types_add_member(struct gt_types *t, uint32_t id, const struct gt_type_member *m);
void gt_types_add_value(struct gt_types *t, uint32_t id, const struct gt_type_value *v);
void gt_types_add_param(struct gt_types *t, uint32_t id, const struct gt_type_param *p);

/* Never NULL: an unknown number is a type of kind GT_TYPE_UNKNOWN. */
const struct gt_type *gt_type_get(const struct gt_types *t, uint32_t id);
/* The number behind typedefs and qualifiers; GT_TYPE_NONE: a cycle of them. */
uint32_t gt_type_resolve(const struct gt_types *t, uint32_t id);
/* gt_type_get of gt_type_resolve. */
const struct gt_type *gt_type_plain(const struct gt_types *t, uint32_t id);

/* The type's n parts; NULL: it has none. Valid until the next addition. */
const struct gt_type_member *gt_type_members(const struct gt_types *t, uint32_t id);
const struct gt_type_value *gt_type_values(const struct gt_types *t, uint32_t id);
const struct gt_type_param *gt_type_params(const struct gt_types *t, uint32_t id);

/* The first type of that name and kind (GT_TYPE_STRUCT, UNION, ENUM, TYPEDEF) that is complete, or
 * else that is not; 0: there is no such. Linear: for a few questions. */
uint32_t gt_types_find(const struct gt_types *t, enum gt_type_kind kind, const char *name);

/* Bytes of a value; arrays and typedefs by what they consist of. 0: none, unknown or endless. */
uint64_t gt_type_size(const struct gt_types *t, uint32_t id);

/* Alignment of a value in bytes, of a type that is finite, where scalars are aligned to `most`
 * bytes at most. `adjusted`: with what attributes of the type itself ask for. A struct whose
 * members are not where their alignment asks for is packed. */
uint32_t gt_type_align(const struct gt_types *t, uint32_t id, uint32_t most, bool adjusted);

/* Sets is_flags of an enum whose values are complete: each is one bit or a combination of them, and
 * they are not just consecutive numbers. */
void gt_type_find_flags(struct gt_types *t, uint32_t id);

/* True if the type is as deep as GT_TYPE_STEPS at most and, with its members, ends: then it can be
 * walked by recursion. */
bool gt_type_is_finite(const struct gt_types *t, uint32_t id);

#endif
