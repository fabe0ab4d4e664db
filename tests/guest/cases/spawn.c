/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfork with exec, posix_spawn, system, and an exec that fails: the calls before and after it are
 * whole.
 */
#include "guest.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char *argv[] = {"true", NULL}, *envp[] = {NULL};

F static void leaf(void)
{
    WORK();
}

F static int reap(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

F static int by_vfork(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execve("/nonexistent", argv, envp);
        execve("/bin/true", argv, envp);
        _exit(1);
    }
    return reap(pid);
}

F static int by_spawn(void)
{
    pid_t pid;
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp))
        return 99;
    return reap(pid);
}

F static int fail(void)
{
    int r = execve("/nonexistent", argv, envp);
    leaf();
    return r;
}

int main(void)
{
    int a = by_vfork(), b = by_spawn(), c = fail();
    int d = system("exit 7");
    leaf();
    printf("%d %d %d %d\n", a, b, c, WEXITSTATUS(d));
    return 0;
}

/* calls:
main
  by_vfork
    reap
  by_spawn
    reap
  fail
    leaf
  leaf
--
main
  by_vfork
--
main
  by_spawn
--
main
 */
