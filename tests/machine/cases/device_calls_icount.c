/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_calls.c on one vCPU of a host that counts instructions, which 7.2 leaves blocks for as
 * well.
 *
 * defines: ALONE
 * calls: 2400
 * machine: -icount shift=3
 */
#include "device_calls.c"
