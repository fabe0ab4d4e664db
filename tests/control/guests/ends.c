/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that ends, when its input does, while three threads make system calls. */
#include <pthread.h>
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

int main(void)
{
    pthread_t thread;
    char c;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, work_on, NULL) != 0)
            return 1;
    if (write(1, "ready\n", 6) != 6 || read(0, &c, 1) != 0)
        return 1;
    return 42;
}
