/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that call themselves, at once and through others, on several paths and in two threads.
 */
#include <pthread.h>
#include <stdio.h>

#define OWN __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static volatile int sum;

OWN static void leaf(int n)
{
    sum += n;
}

OWN static int fib(int n)
{
    leaf(n);
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

OWN static void odd(int n);

OWN static void even(int n)
{
    leaf(n);
    if (n)
        odd(n - 1);
}

OWN static void odd(int n)
{
    if (n)
        even(n - 1);
    if (n == 5)
        fib(4);
}

OWN static void *work(void *arg)
{
    even(6);
    fib(7);
    odd(9);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    work(NULL);
    leaf(0);
    printf("%d\n", sum);
    return 0;
}
