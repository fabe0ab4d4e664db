/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loaded plugin's value: see gt_points_loaded. */
#include "events/plugin/recorder.h"

struct gt_points gt_points_of_plugin;
