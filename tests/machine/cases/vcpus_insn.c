/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcpus.c by the instruction clock: a thread continues on another vCPU soon after it began.
 *
 * smp: 4
 * calls: 10000
 * options: --clock insn
 * clocks: own
 */
#include "vcpus.c"
