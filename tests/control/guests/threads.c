/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three threads that call and recurse without end until a byte of input comes. Prints "ready" when
 * they run. */
#include <pthread.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline)) static

static volatile int ends;

FUNCTION int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

FUNCTION int recurse(int n)
{
    return n > 0 ? recurse(n - 1) + leaf(n) : 0;
}

FUNCTION int outer(int x)
{
    return recurse(x % 7) + leaf(x);
}

static void *run(void *sum)
{
    for (int i = 0; !ends; i++)
        *(int *)sum += outer(i);
    return NULL;
}

int main(void)
{
    pthread_t thread[3];
    int sum[3] = {0};
    char c;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, run, &sum[i]) != 0)
            return 1;
    if (write(1, "ready\n", 6) != 6 || read(0, &c, 1) != 1)
        return 1;
    ends = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 42;
}
