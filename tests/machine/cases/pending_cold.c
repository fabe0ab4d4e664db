/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pending.c, but the first interrupt of all is one of those.
 *
 * calls: 400
 * anywhere: soft_interrupt machine_soft
 * handlers: 80
 */
#define COLD
#include "pending.c"
