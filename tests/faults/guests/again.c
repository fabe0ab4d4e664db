/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `again N COMMAND...`: calls tick() N times, and in a child half as often; then both execute the
 * command. */
#include "guest.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

F static void tick(void)
{
    WORK();
}

F static void ticks(int n)
{
    for (int i = 0; i < n; i++)
        tick();
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    ticks(n);
    if (argc < 3)
        return 3;
    pid_t child = fork();
    if (child == 0)
        ticks(n / 2);
    else
        waitpid(child, NULL, 0);
    execv(argv[2], argv + 2);
    return 1;
}
