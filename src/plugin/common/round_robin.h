/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several vCPUs on one host thread (-icount, -accel tcg,thread=single): QEMU 9 and later build the
 * number of the vCPU that a block was translated for into its callbacks, whichever runs it.
 */
#ifndef GT_PLUGIN_COMMON_ROUND_ROBIN_H
#define GT_PLUGIN_COMMON_ROUND_ROBIN_H

#include "qemu/host.h"

/* On each vCPU's thread, as it begins. Says once that QEMU does not tell them apart, and what is
 * wrong therefore; true: so it is. Then its own stores to score must not be used: QEMU 11.1
 * multiplies the number again with each of a block, and writes anywhere. */
bool gt_round_robin_check(const struct gt_host_info *host, const char *wrong);

#endif
