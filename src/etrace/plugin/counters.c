/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flags=coverage: the numbers that translated code adds to: see counters.h. */
#include "etrace/plugin/recorder.h"

uint32_t gt_etrace_counter_new(struct gt_etrace *e)
{
    struct gt_etrace_counters *c = &e->counters;
    if (c->ended->len) {
        uint32_t counter = g_array_index(c->ended, uint32_t, c->ended->len - 1);
        g_array_set_size(c->ended, c->ended->len - 1);
        return counter;
    }
    if (c->n == c->sets->len * GT_ETRACE_COUNTERS)
        g_ptr_array_add(c->sets, gt_counters_new(GT_ETRACE_COUNTERS));
    return ++c->n;
}

void *gt_etrace_counter_set(struct gt_etrace *e, uint32_t counter)
{
    return e->counters.sets->pdata[(counter - 1) / GT_ETRACE_COUNTERS];
}

static uint64_t *number_of(struct gt_etrace *e, uint32_t counter, unsigned vcpu)
{
    return gt_counters_find(gt_etrace_counter_set(e, counter), vcpu) +
           (counter - 1) % GT_ETRACE_COUNTERS;
}

uint64_t gt_etrace_counter_value(struct gt_etrace *e, uint32_t counter, unsigned vcpu)
{
    return *number_of(e, counter, vcpu);
}

uint64_t gt_etrace_counter_end(struct gt_etrace *e, uint32_t counter)
{
    unsigned n = gt_counters_sets(__atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE));
    uint64_t sum = 0;
    for (unsigned vcpu = 0; vcpu < n; vcpu++) {
        uint64_t *number = number_of(e, counter, vcpu);
        sum += *number;
        *number = 0;
    }
    g_array_append_val(e->counters.ended, counter);
    return sum;
}
