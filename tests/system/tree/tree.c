/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine runs: the calls that ../tree_test.py expects, in this order. Each board's
 * start_ARCH.S comes before, with a stack for each vCPU, and after, with the power switch.
 *
 * -DVCPUS=2: run_tree also waits until the second vCPU, in run_other, has done its own calls.
 */
#define OWN __attribute__((noinline, noclone, noipa, used))

void run_tree(void);
void run_other(void);
unsigned leap(unsigned n); /* in assembly: jumps to landed */
unsigned landed(unsigned n);
void wake_other(void);

static volatile unsigned sink;
#if VCPUS > 1
static volatile unsigned may_begin, is_done;
#endif

OWN static void leaf(void)
{
    sink++;
}

OWN static unsigned chain(unsigned n)
{
    if (n == 0) {
        leaf();
        return 1;
    }
    return chain(n - 1) + 1;
}

OWN static void red(void)
{
    sink += 2;
}

OWN static void green(void)
{
    leaf();
    sink += 3;
}

OWN static void blue(void)
{
    red();
    green();
}

static void (*volatile const colours[])(void) = {red, green, blue};

OWN static unsigned is_odd(unsigned n);

OWN static unsigned is_even(unsigned n)
{
    return n == 0 ? 1 : is_odd(n - 1) + 0 * sink;
}

OWN static unsigned is_odd(unsigned n)
{
    return n == 0 ? 0 : is_even(n - 1) + 0 * sink;
}

OWN static unsigned deep(unsigned n)
{
    return n == 0 ? 0 : deep(n - 1) + sink;
}

/* Three ways out, two of them early. */
OWN static unsigned early(unsigned n)
{
    if (n & 1)
        return 0;
    leaf();
    if (n & 2)
        return 1;
    leaf();
    return 2;
}

OWN static unsigned twice(unsigned n)
{
    return n < 2 ? n : twice(n - 1) + twice(n - 2);
}

/* Reached from leap by a jump. */
OWN unsigned landed(unsigned n)
{
    leaf();
    return n + sink;
}

OWN void run_other(void)
{
#if VCPUS > 1
    while (!may_begin)
        ;
    chain(2);
    is_even(3);
    twice(2);
    is_done = 1;
#endif
}

OWN void run_tree(void)
{
    leaf();
    chain(3);
    for (unsigned i = 0; i < 3; i++)
        colours[i]();
    is_even(4);
    for (unsigned i = 0; i < 4; i++)
        early(i);
    twice(4);
    sink += leap(5);
#if VCPUS > 1
    wake_other();
    may_begin = 1;
    while (!is_done)
        ;
#endif
    deep(1300);
    leaf();
}
