/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Globs over bytes: `*` any of them, `?` one; every other one is itself. Neither text need be
 * UTF-8: names are a guest's. */
#ifndef GT_BASE_GLOB_H
#define GT_BASE_GLOB_H

#include <stdbool.h>

bool gt_glob_fits(const char *glob, const char *text);

#endif
