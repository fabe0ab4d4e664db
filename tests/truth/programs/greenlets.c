/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that greenlets.py calls, and that call it. */
#include "tree_log.h"

F void leaf(void)
{
    ENTER();
    LEAVE();
}

F void step(int depth, void (*inside)(int))
{
    ENTER();
    leaf();
    inside(depth);
    leaf();
    LEAVE();
}

void stand_on(int stack)
{
    log_stack = stack;
}

void print_log(void)
{
    PRINT_LOG()
    fflush(stdout);
}
