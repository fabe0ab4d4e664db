/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Twenty children at once.
 */
#include "guest.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

F static void in_child(void)
{
    WORK();
}

int main(void)
{
    int sum = 0, status;
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            in_child();
            return i;
        }
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    printf("%d\n", sum);
    return 0;
}

/* calls:
main
--
main
  in_child
x20
 */
