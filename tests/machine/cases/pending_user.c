/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pending.c, but the first interrupt of all hits where a program's system call has just ended.
 *
 * arches: x86_64
 * calls: 150
 * anywhere: soft_interrupt machine_soft
 * handlers: 20
 */
#define COLD
#define USER
#include "pending.c"
