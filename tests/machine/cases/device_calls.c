/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indirect calls, jumps and returns at the end of blocks that read a device: where one thread of
 * the host runs all vCPUs QEMU leaves the block there, and goes on with its rest.
 *
 * smp: 2
 * calls: 4000
 * machine: -accel tcg,thread=single
 */
#include "kernel.h"

enum { TURNS = 400 };

static volatile unsigned sum, done;

OWN static void leaf(void)
{
    CALLED(leaf);
    sum++;
}

OWN static void branch(void)
{
    CALLED(branch);
    leaf();
}

static void (*volatile const functions[])(void) = {leaf, branch};

/* Called between two reads of a device, whose blocks end in the call and in a jump. */
OWN static void by_device(unsigned n)
{
    CALLED(by_device);
    functions[(k_device() & 0) + (n & 1)]();
    functions[(k_device() & 0) + (n >> 1 & 1)]();
    sum += k_device();
}

OWN static word recursion(word depth)
{
    CALLED(recursion);
    if (depth > 0)
        recursion(depth - 1);
    functions[(k_device() & 0) + (depth & 1)]();
    return k_device();
}

OWN void run_other(word cpu)
{
    CALLED(run_other);
    for (unsigned i = 0; i < TURNS; i++)
        by_device(i + (unsigned)cpu);
    done = 1;
    for (;;)
        k_wait();
}

OWN void run(void)
{
    CALLED(run);
#ifndef ALONE
    k_start_cpu(1);
#endif
    for (unsigned i = 0; i < TURNS; i++)
        by_device(i);
    for (unsigned i = 0; i < TURNS / 8; i++)
        recursion(6);
#ifndef ALONE
    while (!done)
        ;
#endif
}
