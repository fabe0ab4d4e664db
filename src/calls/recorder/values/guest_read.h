/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a guest process (user mode). */
#ifndef GT_CALLS_RECORDER_VALUES_GUEST_READ_H
#define GT_CALLS_RECORDER_VALUES_GUEST_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_uftrace_recorder;

/* Reads n bytes at the guest's address, which need not be mapped: false then. */
bool gt_guest_read(const struct gt_uftrace_recorder *r, uint64_t addr, void *out, size_t n);

#endif
