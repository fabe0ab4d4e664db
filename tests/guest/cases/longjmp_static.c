/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * longjmp in a static executable: the recursion's frame that called setjmp is found among equals.
 *
 * flags: -static
 */
#include "guest.h"

#include <setjmp.h>

static jmp_buf env;

F static void leaf(void)
{
    WORK();
}

F static void recurse(int n)
{
    if (n == 2 && setjmp(env)) {
        leaf();
        return;
    }
    if (n == 5)
        longjmp(env, 1);
    recurse(n + 1);
    WORK();
}

int main(void)
{
    recurse(0);
    leaf();
    return 0;
}

/* calls:
main
  recurse
    recurse
      recurse
        recurse
          recurse
            recurse
        leaf
  leaf
 */
