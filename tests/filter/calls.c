/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls for filters: recursion, callees of several callers, short and long ones, functions of many
 * sizes, two threads. */
#include <pthread.h>

void tiny(void);
void spin(int n);
void get_one(int n);

static void get_two(int n)
{
    get_one(n);
    get_one(n / 2);
}

static int fib(int n)
{
    tiny();
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void odd(int n);
static void even(int n)
{
    spin(n);
    if (n > 0)
        odd(n - 1);
}

static void odd(int n)
{
    tiny();
    if (n > 0)
        even(n - 1);
    get_one(3 * n);
}

static void put_large(int n)
{
    switch (n % 5) {
    case 0:
        get_two(n);
        spin(40);
        break;
    case 1:
        fib(3);
        break;
    case 2:
        even(3);
        tiny();
        tiny();
        break;
    case 3:
        spin(400);
        break;
    default:
        odd(2);
        get_one(1);
    }
}

static void put_all(int n)
{
    for (int i = 0; i < n; i++)
        put_large(i);
    even(4);
}

static void *thread_main(void *data)
{
    put_all(7);
    fib(4);
    return data;
}

int main(void)
{
    pthread_t t;
    get_two(10);
    if (pthread_create(&t, NULL, thread_main, NULL) != 0)
        return 1;
    put_all(5);
    pthread_join(t, NULL);
    put_all(2);
    odd(3);
    return 0;
}
