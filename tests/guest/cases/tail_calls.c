/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tail calls: a direct, a conditional, an indirect one, one into another library through the PLT,
 * and two functions that only ever jump to each other. The one that is jumped to takes its
 * predecessor's place.
 *
 * flags: -O2 -fPIC -foptimize-sibling-calls
 */
#include "guest.h"

#include <stdlib.h>

F static int leaf(int n)
{
    return n + WORK();
}

F static int direct(int n)
{
    WORK();
    return leaf(n);
}

F static int conditional(int n)
{
    if (n > 3)
        return leaf(n);
    WORK();
    return n;
}

static int (*volatile pointer)(int) = leaf;

F static int indirect(int n)
{
    WORK();
    return pointer(n);
}

/* Not inlined, and interposable: reached through the PLT with -fPIC. */
F int exported(int n)
{
    return leaf(n) + WORK();
}

F static int through_plt(int n)
{
    WORK();
    return exported(n + 1);
}

F static int pong(int n);

F static int ping(int n)
{
    WORK();
    return n ? pong(n - 1) : leaf(n);
}

F static int pong(int n)
{
    WORK();
    return n ? ping(n - 1) : leaf(n);
}

F static int out_of_program(int n)
{
    WORK();
    return abs(n) + (int)labs(n);
}

int main(void)
{
    direct(1);
    conditional(5);
    conditional(1);
    indirect(1);
    through_plt(1);
    ping(3);
    out_of_program(1);
    return 0;
}

/* calls:
main
  direct
  leaf
  conditional
  leaf
  conditional
  indirect
  leaf
  through_plt
  exported
    leaf
  ping
  pong
  ping
  pong
  leaf
  out_of_program
 */
