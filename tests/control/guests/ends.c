/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that ends, when its input does, while three threads make system calls. How: the first
 * argument; without one with status 42. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void work(void)
{
    sum += getppid() > 0;
}

static void *work_on(void *self)
{
    for (;;)
        work();
    return self;
}

static void die(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "fault") == 0)
        *(volatile int *)8 = 1;
    else
        kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char c;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, work_on, NULL) != 0)
            return 1;
    if (write(1, "ready\n", 6) != 6 || read(0, &c, 1) != 0)
        return 1;
    if (argc > 1)
        die(argv[1]);
    return 42;
}
