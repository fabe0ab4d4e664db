/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct calls, pointers to functions, recursion and mutual recursion.
 */
#include "guest.h"

F static void leaf(void)
{
    WORK();
}

F static void middle(void)
{
    leaf();
    leaf();
}

F static int down(int n)
{
    return n ? down(n - 1) + 1 : WORK();
}

F static int odd(int n);

F static int even(int n)
{
    return n ? odd(n - 1) + work_done : WORK();
}

F static int odd(int n)
{
    return n ? even(n - 1) + work_done : WORK();
}

F static void through(void (*fn)(void))
{
    fn();
}

static void (*volatile pointer)(void) = middle;

int main(void)
{
    middle();
    down(3);
    even(3);
    through(leaf);
    pointer();
    return 0;
}

/* calls:
main
  middle
    leaf
    leaf
  down
    down
      down
        down
  even
    odd
      even
        odd
  through
    leaf
  middle
    leaf
    leaf
 */
