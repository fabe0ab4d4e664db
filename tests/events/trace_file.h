/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simpletrace file, read whole: its records, with the names that the file gives to their ids. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "events/library/read/simpletrace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_record {
    const char *name; /* "dropped" for a drop record */
    uint64_t time, tid;
    uint32_t pid;
    const uint8_t *at, *end; /* what is left of the payload */
};

struct trace_file {
    struct trace_record *records;
    size_t count;
    size_t torn; /* bytes behind the last whole record */
    uint8_t *data;
    char *names[64]; /* by id */
};

/* Fails the test if the file is not a simpletrace file, or has a record without a name. */
struct trace_file trace_file_read(const char *path);
void trace_file_free(struct trace_file *f);

size_t trace_file_count(const struct trace_file *f, const char *name);
/* The sum of the drop records. */
uint64_t trace_file_dropped(const struct trace_file *f);

/* The next item of a payload; the test fails if it is not there. */
uint64_t take_u64(struct trace_record *r);
/* A copy with a NUL behind it, good until the next call; *length may be NULL. */
const char *take_string(struct trace_record *r, uint32_t *length);

#endif
