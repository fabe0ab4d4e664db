/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program without symbols: its functions are shown as prog+0x..., as many as there are calls. See
 * stripped.py.
 *
 * flags: -s
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

int main(void)
{
    middle();
    down(3);
    return 0;
}
