/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flags=coverage: the counters. They lie close together, apart from their blocks: of the code that
 * runs often they stay in the processor's cache. */
#include "plugin/etrace/etrace.h"

static GArray *spare; /* numbers of counters that ended; NULL: none has; with gt_etrace.lock */

uint32_t gt_etrace_new_counter(void)
{
    if (spare && spare->len) {
        uint32_t counter = g_array_index(spare, uint32_t, spare->len - 1);
        g_array_set_size(spare, spare->len - 1);
        return counter;
    }
    if (gt_etrace.n_counters == gt_etrace.counters->len * GT_ETRACE_COUNTERS)
        g_ptr_array_add(gt_etrace.counters, gt_counters_new(GT_ETRACE_COUNTERS));
    return ++gt_etrace.n_counters;
}

void *gt_etrace_counter_set(uint32_t counter)
{
    return gt_etrace.counters->pdata[(counter - 1) / GT_ETRACE_COUNTERS];
}

/* The vCPU's number of a counter. */
static uint64_t *number_of(uint32_t counter, unsigned vcpu)
{
    return gt_counters_find(gt_etrace_counter_set(counter), vcpu) +
           (counter - 1) % GT_ETRACE_COUNTERS;
}

uint64_t gt_etrace_counted(uint32_t counter, unsigned vcpu)
{
    return *number_of(counter, vcpu);
}

uint64_t gt_etrace_end_counter(uint32_t counter)
{
    unsigned n = gt_counters_sets(__atomic_load_n(&gt_etrace.n_vcpus, __ATOMIC_ACQUIRE));
    uint64_t sum = 0;
    for (unsigned vcpu = 0; vcpu < n; vcpu++) {
        uint64_t *number = number_of(counter, vcpu);
        sum += *number;
        *number = 0;
    }
    if (!spare)
        spare = g_array_new(FALSE, FALSE, sizeof counter);
    g_array_append_val(spare, counter);
    return sum;
}
