/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c, with more threads than are recorded.
 *
 * calls: 20000
 * options: --max-tasks 4
 * plugin: max-tasks=4
 * beyond: 5
 */
#include "threads.c"
