/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landings.c, but the first interrupt of all is at a return.
 *
 * calls: 1000
 * anywhere: soft_interrupt machine_soft
 */
#define COLD
#define RETURN_FIRST
#include "landings.c"
