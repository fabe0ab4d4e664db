/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's clock. */
#ifndef GT_BASE_CLOCK_H
#define GT_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t gt_clock_monotonic(void);

#endif
