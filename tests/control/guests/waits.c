/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread does a step for each character of the input, as steps.c does: w works a hundred times, t
 * does it in a thread of its own, q ends. main() waits in wait_for() all the time.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline)) static

FUNCTION int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

FUNCTION int work(int x)
{
    return leaf(leaf(x));
}

FUNCTION void *do_work(void *self)
{
    for (int i = 0; i < 100; i++)
        work(i);
    return self;
}

FUNCTION void wait_for(pthread_t thread)
{
    pthread_join(thread, NULL);
}

FUNCTION void after(void)
{
    work(1);
}

FUNCTION void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

static void *steps(void *self)
{
    char c[2] = "";
    pthread_t thread;
    say("ready");
    while (read(0, c, 1) == 1 && *c != 'q') {
        if (*c == 'w')
            do_work(NULL);
        else if (pthread_create(&thread, NULL, do_work, NULL) == 0)
            wait_for(thread);
        say(c);
    }
    return self;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, steps, NULL) != 0)
        return 1;
    wait_for(thread);
    after();
    return 42;
}
