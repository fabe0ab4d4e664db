/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to calls/: an open recording.
 *
 * Its records are rows: what one packer packed, or a task's file. A row has blocks, which are read
 * in order, and parts, at whose beginnings reading can begin: the segments of a packer; a file is
 * one part.
 */
#ifndef GT_CALLS_READ_RECORDING_H
#define GT_CALLS_READ_RECORDING_H

#include "calls/read/calls.h"
#include "calls/read/spaces.h"
#include "calls/read/tasks.h"
#include "calls/read/texts.h"
#include "recording/directory/uftrace.h"
#include "recording/values/spec.h"

#include <pthread.h>

struct gt_calls_block {
    size_t number; /* compact: in the file's list */
    uint64_t records;
    uint64_t first, last; /* compact: times */
    uint64_t least;       /* compact: the lowest time in it and in all blocks of the row after it */
};

struct gt_calls_row {
    uint32_t id; /* packer, or task */
    size_t block, n_blocks;
    size_t size; /* directory: bytes of whole records */
    size_t from; /* directory: where a reader begins */
};

struct gt_calls_part {
    uint32_t row;
    size_t block, n_blocks;
    bool gap; /* compact: records of the row are missing before it */
    uint64_t records;
    uint64_t first, last; /* the lowest and the highest time */
};

struct gt_calls {
    char *path;
    struct gt_error_notices notices; /* one at a time, from any thread */
    struct gt_error_notices told;    /* where they go */
    pthread_mutex_t notices_lock;
    bool written; /* as in struct gt_calls_options */
    struct gt_calls_facts facts;
    struct gt_compact_file file; /* fd -1: a directory */
    struct gt_calls_texts texts;
    struct gt_uftrace_info info;
    struct gt_calls_spaces *spaces;
    struct gt_calls_tasks tasks;
    GArray *marks; /* struct gt_calls_mark */
    char *marks_text;
    GHashTable *events; /* their names, by id */
    struct gt_values values;
    uint32_t lost_event; /* the event that marks lost records; 0: none */
    uint32_t n_vcpus;    /* that events name */
    struct gt_calls_block *block;
    size_t n_blocks;
    /* gt_calls_forks_inherited; NULL: no task is a forked child */
    const GArray *(*inherited)(struct gt_calls *c, uint32_t task, size_t n, uint32_t function);
    GHashTable *forks; /* its results, by task */
    pthread_mutex_t forks_lock;
    bool gave;     /* gt_calls_gave */
    GArray *rows;  /* struct gt_calls_row */
    GArray *parts; /* struct gt_calls_part; a row's are in order */
};

/* True where the records are blocks of a compact file: an etrace stream's have become one. */
static inline bool gt_calls_is_file(const struct gt_calls *c)
{
    return c->facts.form != GT_CALLS_DIRECTORY;
}

/* Where notices go of what a recording that is being written may have later: nowhere meanwhile. */
static inline const struct gt_error_notices *gt_calls_notices_at_end(const struct gt_calls *c)
{
    static const struct gt_error_notices none;
    return c->written ? &none : &c->notices;
}

/* The rows of a compact file, or of a directory. `c` has its file, texts and tasks; tasks that have
 * records are added. GT_E_NOMEM, GT_E_IO, GT_E_FORMAT. */
int gt_calls_rows_of_file(struct gt_calls *c, struct gt_error *err);
int gt_calls_rows_of_directory(struct gt_calls *c, struct gt_error *err);

/* extern.dat and events.txt. */
int gt_calls_marks_read(struct gt_calls *c, struct gt_error *err);
int gt_calls_events_read(struct gt_calls *c, struct gt_error *err);
/* GT_VALUES_FILE. */
int gt_calls_specs_read(struct gt_calls *c, struct gt_error *err);

#endif
