/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of addresses at which functions were entered in a recording. */
#ifndef GT_NAMES_PLACEMENT_ENTRIES_H
#define GT_NAMES_PLACEMENT_ENTRIES_H

#include "base/error.h"
#include "recording/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_image_source_part;

struct gt_place_entries {
    uint64_t *addr; /* 48 bits, sorted */
    size_t n;
    bool jumps; /* the set has all jump targets, not only functions */
    /* Checks an offset against the code that ran: 1: right, 0: wrong, -1: unknown. NULL: no check.
     *
     */
    int (*confirm)(void *self, const struct gt_image_source_part *part, uint64_t offset);
    void *self;
};

/* A set of addresses that is being collected. */
struct gt_place_entry_set;
struct gt_place_entry_set *gt_place_entry_set_create(void); /* NULL: no memory */
int gt_place_entry_set_add(struct gt_place_entry_set *s,
                           uint64_t addr); /* cut to 48 bits; GT_E_NOMEM */
/* Moves the set to *out, which needs gt_place_entries_free, and frees it; out may be NULL. */
void gt_place_entry_set_finish(struct gt_place_entry_set *s, struct gt_place_entries *out);

/* Reads all records; the caller frees *out with gt_place_entries_free. A damaged file is read up to
 * the damage. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_place_entries_read(const struct gt_recording_records *at, struct gt_place_entries *out,
                          struct gt_error *err);

/* Some tasks, whose entries are divided by time: out[i], of n_times + 1, gets the entries before
 * times[i] and not before times[i - 1]; times are ascending. */
struct gt_place_entries_group {
    const uint32_t *tids;
    size_t n_tids;
    const uint64_t *times;
    size_t n_times;
    struct gt_place_entries *out;
};
/* The same for several groups, in one pass; a task is in one of them. Each out[i] is set in any
 * case. */
int gt_place_entries_read_groups(const struct gt_recording_records *at,
                                 const struct gt_place_entries_group *group, size_t n,
                                 struct gt_error *err);

/* A call and the functions that were open around it: 48-bit addresses, the outermost first. */
struct gt_place_entries_call {
    uint64_t time;
    uint64_t *open;
    size_t n_open;
};
/* A task's calls. */
struct gt_place_entries_calls {
    uint32_t tid;
    struct gt_place_entries_call *call;
    size_t n;
};

/* Finds the tasks' calls of one of the functions, at most `most` each: sets call and n of the n
 * elements, whose tids are ascending. Free them with gt_place_entries_calls_free, also after an
 * error. Errors of gt_place_entries_read. */
int gt_place_entries_find(const struct gt_recording_records *at,
                          const struct gt_place_entries *functions, size_t most,
                          struct gt_place_entries_calls *calls, size_t n, struct gt_error *err);
void gt_place_entries_calls_free(struct gt_place_entries_calls *calls, size_t n);

void gt_place_entries_free(struct gt_place_entries *e);

bool gt_place_entries_contain(const struct gt_place_entries *e, uint64_t addr);
/* Returns the index of the first entry that is not below the address; n: none. */
size_t gt_place_entries_at(const struct gt_place_entries *e, uint64_t addr);
/* Removes the entries from start to end, both truncated to 48 bits. */
void gt_place_entries_remove(struct gt_place_entries *e, uint64_t start, uint64_t end);

#endif
