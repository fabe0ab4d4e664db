/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin keeps while QEMU runs: see uftrace.h. */
#include "plugin/uftrace/uftrace.h"

struct gt_recorder gt_rec;
