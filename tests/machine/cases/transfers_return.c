/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transfers.c, but the first interrupt of all is at a return. Not on x86_64: its vectors stand
 * anywhere, and QEMU 7.2 reports no interrupt, so that this one looks like a return that is a jump.
 *
 * arches: aarch64 riscv64
 * calls: 1000
 * anywhere: soft_interrupt machine_soft
 */
#define COLD
#define RETURN_FIRST
#include "transfers.c"
