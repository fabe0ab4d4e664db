/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin keeps while QEMU runs: see recorder.h. */
#include "plugin/uftrace/recorder.h"

struct gt_recorder gt_rec;
