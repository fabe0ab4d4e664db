/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin keeps while QEMU runs: see etrace.h. */
#include "plugin/etrace/etrace.h"

struct gt_etrace gt_etrace;
