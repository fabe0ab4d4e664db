/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c, each instruction a block of its own.
 *
 * calls: 20000
 * machine: {one-insn}
 */
#include "threads.c"
