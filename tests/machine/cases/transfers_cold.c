/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transfers.c, but the first interrupt of all is one of those.
 *
 * calls: 1000
 * anywhere: soft_interrupt machine_soft
 */
#define COLD
#include "transfers.c"
