/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loaded plugin's recorder: see gt_etrace_loaded. */
#include "etrace/plugin/recorder.h"

struct gt_etrace gt_etrace_of_plugin;
