/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GNU C's non-local goto: out of a nested function that is called through a pointer, to a label
 * that the function which holds it also reaches by itself.
 *
 * flags: -Wno-pedantic -Wl,-z,execstack
 */
#include "guest.h"

#include <unistd.h>

F static void after(void)
{
    WORK();
}

F static void each(int (*fn)(int), int n)
{
    for (int i = 0; i < n; i++)
        fn(i);
}

F static int holder(int n)
{
    __label__ out;
    volatile int total = 0;
    F int add(int x)
    {
        if (x == 1)
            goto out;
        total += x;
        return x;
    }
    each(add, n);
    total += 100;
out:
    after();
    return total;
}

int main(void)
{
    holder(1);
    holder(3);
    holder(1);
    holder(2);
    after();
    return 0;
}

/* calls:
main
  holder
    each
      add.0
    after
  holder
    each
      add.0
      add.0
    after
  holder
    each
      add.0
    after
  holder
    each
      add.0
      add.0
    after
  after
*/
