/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of addresses at which functions were entered in a recording. */
#ifndef GT_ANALYSIS_PLACEMENT_ENTRIES_H
#define GT_ANALYSIS_PLACEMENT_ENTRIES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_source_part;

struct gt_entries {
    uint64_t *addr; /* 48 bits, sorted */
    size_t n;
    bool jumps; /* the set has all jump targets, not only functions */
    /* Checks an offset against the code that ran: 1: right, 0: wrong, -1: unknown. NULL: no check.
     *
     */
    int (*confirm)(void *self, const struct gt_source_part *part, uint64_t offset);
    void *self;
};

/* A set of addresses that is being collected. */
struct gt_entry_set;
struct gt_entry_set *gt_entry_set_create(void);              /* NULL: no memory */
int gt_entry_set_add(struct gt_entry_set *s, uint64_t addr); /* cut to 48 bits; GT_E_NOMEM */
/* Moves the set to *out, which needs gt_entries_free, and frees it; out may be NULL. */
void gt_entry_set_finish(struct gt_entry_set *s, struct gt_entries *out);

/* Reads every TID.dat of the directory; the caller frees *out with gt_entries_free. A damaged file
 * is read up to the damage. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_entries_read(const char *dir, struct gt_entries *out, struct gt_error *err);
/* The same for n tasks, divided by time: out[i], of n_times + 1, has the entries before times[i]
 * and not before times[i - 1]; times are ascending. A task without a file has no entries. */
int gt_entries_read_tasks(const char *dir, const uint32_t *tids, size_t n, const uint64_t *times,
                          size_t n_times, struct gt_entries *out, struct gt_error *err);
/* A call and the functions that were open around it: 48-bit addresses, the outermost first. */
struct gt_entries_call {
    uint64_t time;
    uint64_t *open;
    size_t n_open;
};

/* Finds the task's calls of one of the functions, at most `most`. Returns their number; free *out
 * with gt_entries_calls_free. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int64_t gt_entries_find(const char *dir, uint32_t tid, const struct gt_entries *functions,
                        size_t most, struct gt_entries_call **out, struct gt_error *err);
void gt_entries_calls_free(struct gt_entries_call *call, int64_t n);

void gt_entries_free(struct gt_entries *e);

bool gt_entries_contain(const struct gt_entries *e, uint64_t addr);
/* Returns the index of the first entry that is not below the address; n: none. */
size_t gt_entries_at(const struct gt_entries *e, uint64_t addr);
/* Removes the entries from start to end, both truncated to 48 bits. */
void gt_entries_remove(struct gt_entries *e, uint64_t start, uint64_t end);

#endif
