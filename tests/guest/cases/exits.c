/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways to end: exit with handlers deep in a stack, _exit, quick_exit, exit inside a signal
 * handler, exit by one thread while others run; each in a child.
 *
 * flags: -pthread
 * exit: 17
 */
#include "guest.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t running;

F static void leaf(void)
{
    WORK();
}

F static void ending(void)
{
    leaf();
}

F static void on_quick_exit(void)
{
    leaf();
}

F static void by_exit(int n)
{
    if (n == 0)
        exit(11);
    by_exit(n - 1);
    WORK();
}

F static void by__exit(void)
{
    _exit(12);
}

F static void by_quick_exit(void)
{
    quick_exit(13);
}

F static void on_signal(int sig)
{
    exit(sig);
}

F static void by_signal(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
}

F static void *waits(void *arg)
{
    leaf();
    sem_post(&running);
    pause();
    return arg;
}

F static void *computes(void *arg)
{
    sem_post(&running);
    for (;;)
        WORK();
    return arg;
}

F static void by_first_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, waits, NULL);
    pthread_create(&t, NULL, computes, NULL);
    sem_wait(&running);
    sem_wait(&running);
    exit(15);
}

F static void *exits(void *arg)
{
    leaf();
    exit(16);
    return arg;
}

F static void by_other_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, exits, NULL);
    for (;;)
        pause();
}

F static void run(int i)
{
    switch (i) {
    case 0:
        by_exit(2);
        break;
    case 1:
        by__exit();
        break;
    case 2:
        by_quick_exit();
        break;
    case 3:
        by_signal();
        break;
    case 4:
        by_first_thread();
        break;
    default:
        by_other_thread();
    }
}

int main(void)
{
    sem_init(&running, 0, 0);
    atexit(ending);
    at_quick_exit(on_quick_exit);
    for (int i = 0; i < 6; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
            run(i);
        waitpid(pid, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    }
    return 17;
}

/* calls:
main
ending
  leaf
--
main
  run
    by_exit
      by_exit
        by_exit
          ending
            leaf
--
main
  run
    by__exit
--
main
  run
    by_quick_exit
      on_quick_exit
        leaf
--
main
  run
    by_signal
      on_signal
        ending
          leaf
--
main
  run
    by_first_thread
      ending
        leaf
--
waits
  leaf
--
computes
--
main
  run
    by_other_thread
--
exits
  leaf
  ending
    leaf
 */
