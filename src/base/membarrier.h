/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A memory fence on all processors that run threads of this process, asked for by one of them
 * (membarrier(2), private expedited): two threads then agree on the order of a store and a load of
 * which the busier one pays for neither.
 */
#ifndef GT_BASE_MEMBARRIER_H
#define GT_BASE_MEMBARRIER_H

#include <stdbool.h>

/* Has the kernel register the process, which takes it 10 ms and more the first time. False: this
 * kernel cannot, or must not. */
bool gt_membarrier_prepare(void);

/* Before it returns, each thread of the process has been through a full fence. False: nothing has
 * happened, gt_membarrier_prepare() has not succeeded. */
bool gt_membarrier(void);

#endif
