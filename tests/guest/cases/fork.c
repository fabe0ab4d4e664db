/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fork: a child's task begins with the frames it was born in, closed as the child closes them;
 * nothing is written twice. From the first thread, deep in a recursion, from another thread; a
 * child of a child; children that end in _exit and by returning from main.
 *
 * flags: -pthread
 */
#include "guest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

F static void in_child(void)
{
    WORK();
}

F static void in_grandchild(void)
{
    WORK();
}

F static void in_parent(void)
{
    WORK();
}

F static int reap(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

F static int plain(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        in_child();
        _exit(3);
    }
    in_parent();
    return reap(pid);
}

F static int deep(int n)
{
    if (n)
        return deep(n - 1) + WORK() * 0;
    pid_t pid = fork();
    if (pid == 0) {
        in_child();
        return 0;
    }
    return reap(pid);
}

F static int family(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pid_t inner = fork();
        if (inner == 0) {
            in_grandchild();
            exit(5);
        }
        exit(reap(inner) + 1);
    }
    return reap(pid);
}

F static void *thread(void *arg)
{
    pid_t pid = fork();
    if (pid == 0) {
        in_child();
        _exit(0);
    }
    reap(pid);
    return arg;
}

int main(void)
{
    pid_t self = getpid();
    int first = plain();
    int second = deep(2);
    if (getpid() != self)
        return 4;
    int third = family();
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    in_parent();
    printf("%d %d %d\n", first, second, third);
    return 0;
}

/* calls:
main
  plain
    in_parent
    reap
  deep
    deep
      deep
        reap
  family
    reap
  in_parent
--
main
  plain
    in_child
--
main
  deep
    deep
      deep
        in_child
--
main
  family
    reap
--
main
  family
    in_grandchild
--
thread
  reap
--
thread
  in_child
 */
