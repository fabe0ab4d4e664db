/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The case guests, with a kernel at EL1 that calls EL2 to enter its guests.
 *
 * arches: aarch64
 * defines: GUESTS NVHE
 * calls: 3000
 * handlers: 1
 * aarch64: -M virt,virtualization=on -cpu cortex-a57
 */
#include "guests.c"
