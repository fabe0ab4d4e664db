/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What filters mean, without a thought of how a recorder does it: all calls of a task are there as
 * a tree, and every question is asked of the whole tree.
 */
#ifndef GT_TEST_FILTER_MODEL_H
#define GT_TEST_FILTER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_FUNCTIONS = 8, MODEL_CALLS = 400 };

/* What options say of a function, the last one of those that contradict each other. */
struct model_function {
    bool only, not, caller, hide, always, on, off;
    int depth; /* -1: nothing said */
    long time, size;
    int place; /* 1: in a file of -L; -1: in a hidden one */
    unsigned own_size;
    unsigned after, every, count; /* how often its on and off apply */
    bool counted;
};

struct model {
    struct model_function function[MODEL_FUNCTIONS];
    bool only, places, callers, off;
    uint32_t depth, size;
    uint64_t time;
};

struct model_call {
    int function, parent; /* parent -1: none */
    uint32_t depth;
    uint64_t begin, end;
};

struct model_record {
    bool leaves;
    uint32_t depth;
    uint64_t time;
    int call;
};

/* The calls, in order of their entries (no two at one time). Returns the number of records. */
size_t model_records(const struct model *m, const struct model_call *call, size_t n,
                     struct model_record *out);

#endif
