/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All of VCPUS processors call at the same time, by ways and in times that no packer predicts:
 * split_readers_test.py. */
#include "kernel.h"

#ifndef ROUNDS
#define ROUNDS 2000
#endif

static unsigned done, sum[CPUS];

OWN unsigned b(unsigned *seed, unsigned n);

/* Takes a time that nobody predicts: few calls fill a part. */
INLINE unsigned spend(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    for (volatile unsigned i = *seed >> 16 & 63; i; i = i - 1)
        ;
    return *seed >> 22 & 1;
}

OWN unsigned a(unsigned *seed, unsigned n)
{
    return n ? (spend(seed) ? b(seed, n - 1) : a(seed, n - 1)) + 1 : 0;
}

OWN unsigned b(unsigned *seed, unsigned n)
{
    return n ? (spend(seed) ? a(seed, n - 1) : b(seed, n - 1)) + 2 : 0;
}

static void step(word cpu)
{
    unsigned seed = (unsigned)cpu + 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        spend(&seed);
        sum[cpu] += a(&seed, seed >> 16 & 63);
    }
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

OWN void run_other(word cpu)
{
    k_interrupts_off();
    step(cpu);
    for (;;)
        k_wait();
}

OWN void run(void)
{
    k_interrupts_off();
    for (unsigned cpu = 1; cpu < VCPUS; cpu++)
        k_start_cpu(cpu);
    step(0);
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < VCPUS)
        ;
}
