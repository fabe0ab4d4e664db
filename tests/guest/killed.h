/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that dies deep in a recursion, of DIE(), which the case defines. */
#include "guest.h"

F static void leaf(void)
{
    WORK();
}

F static void down(int n)
{
    leaf();
    if (n == 0)
        DIE();
    down(n - 1);
    leaf();
}
