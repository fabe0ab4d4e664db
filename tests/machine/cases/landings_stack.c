/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landings.c, but the first interrupt of all is one of those, and the handler goes on on another
 * stack.
 *
 * calls: 1000
 * anywhere: soft_interrupt machine_soft
 */
#define COLD
#define OTHER_STACK
#include "landings.c"
