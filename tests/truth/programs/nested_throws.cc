/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exceptions that are caught in any of the frames of one recursive function, and thrown again. */
#include "tree_log.h"

static volatile int caught_at;
static int depths[16];

extern "C" {
F static void leaf()
{
    ENTER();
    LEAVE();
}

F static void nested(int n)
{
    ENTER();
    depths[n] = log_depth[0];
    try {
        leaf();
        if (n == 0)
            throw 1;
        nested(n - 1);
        leaf();
    } catch (int) {
        log_depth[0] = depths[n];
        if (n < caught_at)
            throw;
        leaf();
    }
    LEAVE();
}
}

int main()
{
    ENTER();
    for (int i = 0; i < 30; i++) {
        caught_at = i % 6;
        nested(5);
    }
    leaf();
    LEAVE();
    PRINT_LOG()
    return 0;
}
