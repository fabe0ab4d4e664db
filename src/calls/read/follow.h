/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a recording that is being written: which functions were called, and how long they ran,
 * since the last look.
 *
 * Each look opens the recording again, for new parts of its tasks, modules and index, and reads
 * the records that it has not read: of a compact file by each packer's count of records, of a
 * directory by the bytes of each file. Only the segment of a compact file in which reading goes on
 * is unpacked again from its beginning. Each task's stack of open calls is kept from look to look.
 * Memory is bounded by functions, tasks and open calls.
 *
 * Sums are as a pass (calls.h) makes them of the records read so far, where calls that are open
 * last until their task's last record: what a call has run since then comes with the next record.
 */
#ifndef GT_CALLS_READ_FOLLOW_H
#define GT_CALLS_READ_FOLLOW_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_calls_follow;

/* Times in ns. */
struct gt_calls_follow_sum {
    uint64_t calls, self;
    uint64_t total; /* that calls ran which are not recursive; of a task: self */
    uint64_t slept; /* that the task was suspended in these calls */
};

/* `all`: of all looks, without the first one if the recording is followed from its end on. */
struct gt_calls_follow_sums {
    struct gt_calls_follow_sum now, all; /* now: of the last look */
};

/* Functions of one name in one module are one. */
struct gt_calls_follow_function {
    const char *module, *name; /* as struct gt_calls_function has them */
    bool suspends;             /* no function: the time in which tasks were suspended */
    bool is_unnamed;           /* an address without a symbol; "0x1a2b" */
    uint64_t address;          /* where it was met first, 48 bits */
    struct gt_calls_follow_sums sums;
};

/* Time in which it was suspended is not in its sums. */
struct gt_calls_follow_task {
    uint32_t id;
    const char *name; /* valid until the next look; "": it has none */
    struct gt_calls_follow_sums sums;
};

/* Of the recording, as the last good look found it. */
struct gt_calls_follow_facts {
    uint64_t records, bytes; /* bytes on the disk */
    uint32_t vcpus;  /* that tasks run on, as far as the recording says it; 0: it does not */
    bool is_counted; /* `anomalies` is known: the recorder counts them when it ends */
    uint64_t anomalies;
};

/* A usual `most`. */
enum { GT_FOLLOW_FROM_BEGIN = 4 << 20 };

/* `most`: records that the first look reads; a recording with more is followed from its end on.
 * `notices`: about damage, each once, during looks. */
struct gt_calls_follow *gt_calls_follow_create(const char *path, uint64_t most,
                                               const struct gt_error_notices *notices);
void gt_calls_follow_destroy(struct gt_calls_follow *f); /* NULL is fine */

/* Reads new records. `written`: others may be writing it, so that what its end lacks is not damage,
 * and is read by a later look. Errors of gt_calls_open; GT_E_UNSUPPORTED: a directory with
 * arguments. A block that is damaged is skipped and reported. */
int gt_calls_follow_read(struct gt_calls_follow *f, bool written, struct gt_error *err);

/* Only tasks that are wanted, from here on: after the first look all sums begin anew. A task is
 * asked about when it appears and when it gets another name. */
void gt_calls_follow_only(struct gt_calls_follow *f,
                          bool (*wants)(void *self, const struct gt_calls_follow_task *t),
                          void *self);

/* Asks for the names of addresses without a symbol; false: it has none for that one. The texts are
 * copied. */
void gt_calls_follow_name(struct gt_calls_follow *f,
                          bool (*name)(void *self, uint64_t address, const char **module,
                                       const char **name),
                          void *self);

/* Each keeps its index and its place in memory. One that has got a name which another one has is
 * added to that, and has no sums any more. */
size_t gt_calls_follow_n_functions(const struct gt_calls_follow *f);
const struct gt_calls_follow_function *gt_calls_follow_function(const struct gt_calls_follow *f,
                                                                size_t index);
size_t gt_calls_follow_n_tasks(const struct gt_calls_follow *f);
const struct gt_calls_follow_task *gt_calls_follow_task(const struct gt_calls_follow *f,
                                                        size_t index);

/* Sums are not those since the recording began: records before the first look were left out, or
 * they have begun anew. */
bool gt_calls_follow_is_part(const struct gt_calls_follow *f);
const struct gt_calls_follow_facts *gt_calls_follow_facts(const struct gt_calls_follow *f);
/* How often records were lost, or blocks damaged, since the first look. */
uint64_t gt_calls_follow_lost(const struct gt_calls_follow *f);

#endif
