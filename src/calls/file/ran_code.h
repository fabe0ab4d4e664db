/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: code.map and code.found after the run. The map has all functions of a
 * kernel, so that the plugin can recognise them; readers need only where the modules came from, and
 * the functions that code.found names. Both are made shorter together: code.found's numbers of
 * functions are indexes of the map.
 */
#ifndef GT_CALLS_FILE_RAN_CODE_H
#define GT_CALLS_FILE_RAN_CODE_H

#include "base/text.h"

#include <stdbool.h>

bool gt_compact_ran_code_is(const char *name); /* one of the two */
/* 1: `out` has the rest of the directory's file; 0: it is to be kept as it is. GT_E_NOMEM. */
int gt_compact_ran_code_shorten(const char *dir, const char *name, struct gt_text *out);

#endif
