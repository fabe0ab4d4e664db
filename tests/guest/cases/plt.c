/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls into a shared library through the PLT, bound at the first call (lazily) and at start; the
 * library calls back, and tail-calls.
 *
 * flags: -O2 -foptimize-sibling-calls -DPROGRAM -Wl,-z,lazy
 * libs: libpart.so -Wl,-rpath,.
 * before: libpart.so -O2 -foptimize-sibling-calls -shared -fPIC -DPART
 */
#include "guest.h"

int part_add(int n);
int part_tail(int n);
int part_call(int (*fn)(int), int n);

#ifdef PART
int part_add(int n)
{
    return n + WORK();
}

int part_tail(int n)
{
    WORK();
    return part_add(n);
}

int part_call(int (*fn)(int), int n)
{
    return fn(n) + WORK();
}
#else
F static int back(int n)
{
    return part_add(n) + 1;
}

F static int tail_into(int n)
{
    WORK();
    return part_tail(n);
}

int main(void)
{
    part_add(1);
    part_add(2);
    part_tail(1);
    part_tail(2);
    tail_into(1);
    part_call(back, 1);
    part_call(part_tail, 1);
    return 0;
}
#endif

/* calls:
main
  part_add
  part_add
  part_tail
  part_add
  part_tail
  part_add
  tail_into
  part_tail
  part_add
  part_call
    back
      part_add
  part_call
    part_tail
    part_add
 */
