/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses at which functions were entered in a recording, each once. */
#ifndef GT_CLI_ENTRIES_H
#define GT_CLI_ENTRIES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct gt_entries {
    uint64_t *addr; /* 48 bits, sorted */
    size_t n;
};

/* Reads every TID.dat of the directory once. *out is the caller's, to be given to gt_entries_free.
 * A file that is damaged counts up to there. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_entries_read(const char *dir, struct gt_entries *out, struct gt_error *err);
void gt_entries_free(struct gt_entries *e);

/* The first one that is not below the address; n where there is none. */
size_t gt_entries_at(const struct gt_entries *e, uint64_t addr);
/* Takes out those in start..end, whose ends are cut to 48 bits. */
void gt_entries_remove(struct gt_entries *e, uint64_t start, uint64_t end);

#endif
