/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loaded plugin's recorder: see gt_exlog_loaded. */
#include "execlog/plugin/recorder.h"

struct gt_exlog gt_exlog_of_plugin;
