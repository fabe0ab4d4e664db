/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcpus.c by the instruction clock: landings are noted there, and a thread goes on on another vCPU
 * before the one that it leaves has noted much.
 *
 * smp: 4
 * calls: 10000
 * options: --clock insn
 * clocks: own
 */
#include "vcpus.c"
