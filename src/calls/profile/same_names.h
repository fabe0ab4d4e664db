/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that have one name and module, but several addresses: readers see one function. */
#ifndef GT_CALLS_PROFILE_SAME_NAMES_H
#define GT_CALLS_PROFILE_SAME_NAMES_H

#include "calls/read/calls.h"

/* *first: for each function the one of its name and module that has the lowest address; the caller
 * frees it. *any: it is another one for some function. GT_E_NOMEM. */
int gt_same_names(const struct gt_calls *c, uint32_t **first, bool *any);

#endif
