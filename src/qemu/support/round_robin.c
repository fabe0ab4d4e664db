/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several vCPUs on one host thread: see round_robin.h. */
#include "qemu/support/round_robin.h"

/* True where the calling thread runs another vCPU, too, and callbacks have the wrong one. */
static bool is_wrong(const struct gt_host_info *host)
{
    static __thread bool other;
    bool wrong = host->system && host->abi >= 2 && other;
    other = true;
    return wrong;
}

static void report(const struct gt_host_info *host, const char *wrong)
{
    static bool reported;
    if (!reported)
        gt_host_message(
            "with single-threaded TCG this QEMU (plugin ABI %d) reports the wrong vCPU: %s",
            host->abi, wrong);
    reported = true;
}

enum gt_support_round_robin gt_support_round_robin_correct(const struct gt_host_info *host,
                                                           unsigned vcpu, const char *wrong)
{
    if (host->system)
        gt_host_vcpu_learn(vcpu);
    if (!is_wrong(host))
        return GT_VCPUS_RIGHT;
    if (gt_host_vcpus_correct(vcpu))
        return GT_VCPUS_CORRECTED;
    report(host, wrong);
    return GT_VCPUS_WRONG;
}
