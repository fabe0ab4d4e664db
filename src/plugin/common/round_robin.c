/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several vCPUs on one host thread: see round_robin.h. */
#include "plugin/common/round_robin.h"

bool gt_round_robin_check(const struct gt_host_info *host, const char *wrong)
{
    static __thread bool other;
    static bool reported;
    bool wrongly = host->system && host->abi >= 2 && other;
    if (wrongly && !reported) {
        reported = true;
        gt_host_message(
            "with single-threaded TCG this QEMU (plugin ABI %d) reports the wrong vCPU: %s",
            host->abi, wrong);
    }
    other = true;
    return wrongly;
}
