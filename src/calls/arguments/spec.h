/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Specs of values (recording/values/spec.h) from prototypes and calling conventions: which
 * arguments and results a recording has, in which format, and where they are.
 *
 * What cannot be placed is left out: a value is the one that it says, or absent.
 */
#ifndef GT_CALLS_ARGUMENTS_SPEC_H
#define GT_CALLS_ARGUMENTS_SPEC_H

#include "guest/abi/abi.h"
#include "recording/values/spec.h"

struct gt_arguments;

/* Owns the texts, items and enumerations of the specs that are made with it. */
struct gt_arguments *gt_arguments_new(void);
void gt_arguments_free(struct gt_arguments *a);

/* The arguments and the result of a function, by its prototype. Names point into the prototypes. */
void gt_arguments_by_prototype(struct gt_arguments *a, const struct gt_abi *abi,
                               const struct gt_type_prototypes *p,
                               const struct gt_type_prototype *item, struct gt_value_spec *out);

/* Of a function without a prototype: its first n integer arguments and its result, as words that
 * are marked as unsure. */
void gt_arguments_words(struct gt_arguments *a, const struct gt_abi *abi, unsigned n,
                        struct gt_value_spec *out);

/* Of thousands of specs: gives back the room that the spec, the last one that was made, does not
 * need. Nothing can be added to it any more. */
void gt_arguments_keep(struct gt_arguments *a, struct gt_value_spec *spec);

/* The enumerations that items so far name; valid until the next call of a function above. */
const struct gt_value_enum *gt_arguments_enums(const struct gt_arguments *a, size_t *n);

#endif
