/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A memory fence on all processors that run threads of this process, requested by one of them
 * (membarrier(2), private expedited). It replaces the fence of the other threads: a busy producer
 * needs no fence of its own between its stores.
 */
#ifndef GT_BASE_MEMBARRIER_H
#define GT_BASE_MEMBARRIER_H

#include <stdbool.h>

/* False: the kernel does not support or does not permit it. Takes no time. */
bool gt_membarrier_exists(void);

/* Registers the process with the kernel, which takes 10 ms and more the first time. False: the
 * kernel does not support or does not permit it. */
bool gt_membarrier_prepare(void);

/* When this returns true, each thread of the process has executed a full fence. False: no fence was
 * executed, since gt_membarrier_prepare() has not succeeded. */
bool gt_membarrier(void);

#endif
