/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcpus.c on one thread of the host.
 *
 * smp: 4
 * calls: 10000
 * machine: -accel tcg,thread=single
 */
#include "vcpus.c"
