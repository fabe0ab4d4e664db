/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A value of a call: how conditions name it, and what they compare. It stands here since those who
 * parse conditions (filter/) and those who know what a recording has of values (recording/values)
 * do not know each other.
 */
#ifndef GT_BASE_CALL_VALUE_H
#define GT_BASE_CALL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_base_call_value_place {
    GT_CALL_ARGUMENT,       /* argN: by `number`, from 1 */
    GT_CALL_FLOAT_ARGUMENT, /* fpargN */
    GT_CALL_RESULT,         /* retval */
    GT_CALL_NAMED,          /* an argument, or a field of one, by its name */
};

struct gt_base_call_value_name {
    enum gt_base_call_value_place place;
    uint16_t number;
    const char *name; /* as it was written */
};

enum gt_base_call_value_kind { GT_CALL_VALUE_NUMBER, GT_CALL_VALUE_REAL, GT_CALL_VALUE_TEXT };

struct gt_base_call_value {
    enum gt_base_call_value_kind kind;
    bool negative; /* NUMBER: `bits` is a negative number in two's complement */
    uint64_t bits;
    double real;
    const char *text; /* TEXT: bytes of the guest, without a NUL at the end */
    size_t size;
    bool cut; /* the text goes on */
};

#endif
