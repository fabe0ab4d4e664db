/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several vCPUs on one host thread (-icount, -accel tcg,thread=single): QEMU 9 and later build the
 * number of the vCPU that a block was translated for into its callbacks, whichever vCPU runs it.
 */
#ifndef GT_QEMU_SUPPORT_ROUND_ROBIN_H
#define GT_QEMU_SUPPORT_ROUND_ROBIN_H

#include "qemu/host.h"

/* Called on each vCPU's thread as it begins. Where QEMU does not distinguish the vCPUs inline
 * stores to a scoreboard must not be used: QEMU 11.1 multiplies the vCPU's number again with each
 * store of a block, and writes out of bounds. */
enum gt_support_round_robin {
    GT_VCPUS_RIGHT,
    GT_VCPUS_CORRECTED, /* callbacks that are registered from now on have the right vCPU; no
                         * scoreboard may be used */
    GT_VCPUS_WRONG,     /* the first time that is printed, with `wrong`, its consequence */
};
enum gt_support_round_robin gt_support_round_robin_correct(const struct gt_host_info *host,
                                                           unsigned vcpu, const char *wrong);

#endif
