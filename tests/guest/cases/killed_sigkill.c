/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Killed deep in a recursion, without QEMU's knowing: what was recorded is there after a repair.
 *
 * exit: -9
 * killed: yes
 * tasks: doomed
 */
#include "guest.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

static void *volatile work_zero;

F static void leaf(void)
{
    WORK();
}

F static void down(int n)
{
    leaf();
    if (n == 0) {
        (void)work_zero;
        raise(SIGKILL);
    }
    down(n - 1);
    leaf();
}

int main(void)
{
    prctl(PR_SET_NAME, "doomed");
    down(2);
    return 0;
}

/* calls:
main
  down
    leaf
    down
      leaf
      down
        leaf
 */
