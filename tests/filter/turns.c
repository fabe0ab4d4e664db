/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that take turns, by a byte that goes round in pipes: each of them calls the same in every
 * run. One of them ends early, another creates a thread in each turn, a signal comes to a third. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))

enum { THREADS = 4, TURNS = 6 };

static int turn[THREADS][2];
static volatile int sink;

FUNCTION static void leaf(void)
{
    sink++;
}

FUNCTION static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

FUNCTION static void tail_end(void)
{
    leaf();
}

FUNCTION static void tail_begin(void)
{
    leaf();
    tail_end();
}

FUNCTION static void in_handler(int sig)
{
    (void)sig;
    leaf();
}

FUNCTION static void *short_thread(void *self)
{
    tail_begin();
    return self;
}

FUNCTION static void create_one(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, short_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

FUNCTION static void take_turn(int k, int i)
{
    for (int n = 0; n <= k; n++)
        tail_begin();
    sink += fib(3 + k + i % 3);
    if (k == 1)
        create_one();
    if (k == 2)
        raise(SIGUSR1);
}

FUNCTION static void wait_for_turn(int k)
{
    char c;
    if (read(turn[k][0], &c, 1) != 1)
        abort();
}

FUNCTION static void give_turn(int k)
{
    if (write(turn[k % THREADS][1], "", 1) != 1)
        abort();
}

static void *take_turns(void *arg)
{
    int k = (int)(long)arg, turns = k == 3 ? TURNS / 2 : TURNS;
    for (int i = 0; i < turns; i++) {
        wait_for_turn(k);
        take_turn(k, i);
        give_turn(k == 2 && i >= TURNS / 2 ? 0 : k + 1);
    }
    return arg;
}

int main(void)
{
    pthread_t thread[THREADS];
    signal(SIGUSR1, in_handler);
    for (int k = 0; k < THREADS; k++)
        if (pipe(turn[k]) != 0)
            return 1;
    for (long k = 0; k < THREADS; k++)
        if (pthread_create(&thread[k], NULL, take_turns, (void *)k) != 0)
            return 1;
    give_turn(0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    return 0;
}
