/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses at which functions were entered in a recording, each once. */
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
    bool jumps; /* all that was jumped to is among them, not only functions */
    /* Where the code itself can say whether the offset is right: 1, 0; -1: it cannot. NULL: it
     * never can. */
    int (*confirm)(void *self, const struct gt_source_part *part, uint64_t offset);
    void *self;
};

/* Addresses, each once, while they are gathered. */
struct gt_entry_set;
struct gt_entry_set *gt_entry_set_create(void);              /* NULL: no memory */
int gt_entry_set_add(struct gt_entry_set *s, uint64_t addr); /* cut to 48 bits; GT_E_NOMEM */
/* The set becomes *out, which needs gt_entries_free, and is gone; out may be NULL. */
void gt_entry_set_finish(struct gt_entry_set *s, struct gt_entries *out);

/* Reads every TID.dat of the directory once. *out is the caller's, to be given to gt_entries_free.
 * A file that is damaged counts up to there. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_entries_read(const char *dir, struct gt_entries *out, struct gt_error *err);
/* The same of a few tasks, in parts: out[i], n_times + 1 of them, is what was entered before
 * times[i], which rise, and not before times[i - 1]. A task that has no file entered nothing. */
int gt_entries_read_tasks(const char *dir, const uint32_t *tids, size_t n, const uint64_t *times,
                          size_t n_times, struct gt_entries *out, struct gt_error *err);
/* A call, and what was open around it: 48 bits each, the outermost first. */
struct gt_entries_call {
    uint64_t time;
    uint64_t *open;
    size_t n_open;
};

/* The task's calls of one of the functions, at most `most`: the number, and *out for
 * gt_entries_calls_free. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int64_t gt_entries_find(const char *dir, uint32_t tid, const struct gt_entries *functions,
                        size_t most, struct gt_entries_call **out, struct gt_error *err);
void gt_entries_calls_free(struct gt_entries_call *call, int64_t n);

void gt_entries_free(struct gt_entries *e);

bool gt_entries_contain(const struct gt_entries *e, uint64_t addr);
/* The first one that is not below the address; n where there is none. */
size_t gt_entries_at(const struct gt_entries *e, uint64_t addr);
/* Takes out those in start..end, whose ends are cut to 48 bits. */
void gt_entries_remove(struct gt_entries *e, uint64_t start, uint64_t end);

#endif
