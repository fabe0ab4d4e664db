/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's clock: see clock.h. */
#include "base/clock.h"

#include <time.h>

uint64_t gt_clock_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
