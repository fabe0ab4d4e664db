/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pending.c on a host that counts instructions: it leaves a block where that accesses a device,
 * here the interrupt controller, and goes on with the rest.
 *
 * calls: 400
 * anywhere: soft_interrupt machine_soft
 * handlers: 80
 * machine: -icount shift=3
 */
#include "pending.c"
