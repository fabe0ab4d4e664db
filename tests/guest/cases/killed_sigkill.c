/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Killed deep in a recursion, without QEMU's knowing: what was recorded is there after a repair.
 *
 * exit: -9
 * killed: yes
 * tasks: doomed
 */
#include <signal.h>
#include <sys/prctl.h>

#define DIE() raise(SIGKILL)
#include "killed.h"

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
