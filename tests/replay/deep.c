/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls 5,000 deep; then many more than a segment of a compact file has, from there; then back. */
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static volatile int sum;

OWN static void leaf(void)
{
    sum++;
}

OWN static void many(int n)
{
    while (n-- > 0)
        leaf();
}

OWN static void down(int depth, int n)
{
    if (depth > 0)
        down(depth - 1, n);
    else
        many(n);
    sum++;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    down(atoi(argv[1]), atoi(argv[2]));
    leaf();
    printf("%d\n", sum);
    return 0;
}
