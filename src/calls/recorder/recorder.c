/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder that QEMU's callbacks work on: see installed.h. */
#include "calls/recorder/recorder.h"

struct gt_uftrace_recorder gt_installed_recorder;
