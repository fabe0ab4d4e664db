/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Killed deep in a recursion, without QEMU's knowing: what was recorded is there after a repair.
 *
 * exit: -6
 * killed: yes
 */
#include <stdlib.h>

#define DIE() abort()
#include "killed.h"

int main(void)
{
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
