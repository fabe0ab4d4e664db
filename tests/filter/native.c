/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that native uftrace records as well: recursion, callees of several callers, calls by
 * pointer. With an argument, calls that take 0.3 s; all others take no time. */
#include <time.h>

static volatile int sink;

void leaf_low(void)
{
    sink++;
}

void leaf_high(void)
{
    sink += 2;
}

void nap_here(int asleep)
{
    struct timespec t = {0, 300000000};
    if (asleep)
        nanosleep(&t, NULL);
    leaf_low();
}

void mid_one(int asleep)
{
    leaf_low();
    nap_here(asleep);
    leaf_high();
}

void mid_two(int n)
{
    leaf_high();
    mid_one(0);
    if (n > 0)
        mid_two(n - 1);
    leaf_low();
}

void step_odd(int n);
void step_even(int n)
{
    leaf_low();
    if (n > 0)
        step_odd(n - 1);
}

void step_odd(int n)
{
    if (n > 0)
        step_even(n - 1);
    mid_one(0);
}

int tree_walk(int n)
{
    leaf_high();
    return n < 2 ? n : tree_walk(n - 1) + tree_walk(n - 2);
}

void by_pointer(void (*function)(int), int n)
{
    function(n);
    leaf_low();
}

void all_of_it(int asleep)
{
    mid_two(2);
    by_pointer(step_even, 3);
    by_pointer(mid_one, asleep);
    sink += tree_walk(3);
    step_odd(2);
}

int main(int argc, char **argv)
{
    (void)argv;
    leaf_high();
    all_of_it(argc > 1);
    by_pointer(mid_two, 1);
    leaf_low();
    return 0;
}
