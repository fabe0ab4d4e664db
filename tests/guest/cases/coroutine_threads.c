/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A coroutine that is begun by one thread and finished by another; coroutines of several threads at
 * a time, one of them in the task that the first one leaves.
 *
 * flags: -pthread
 * again: clock=insn,tail-calls=off
 * alone: yes
 */
#include "guest.h"

#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 65536, THREADS = 3 };

static ucontext_t wanderer;
static __thread ucontext_t *home;
static ucontext_t homes[THREADS + 2];
static ucontext_t *volatile back;

F static void leaf(void)
{
    WORK();
}

F static void stop(void)
{
    ucontext_t *to = back;
    swapcontext(&wanderer, to);
}

F static void wander(void)
{
    leaf();
    stop();
    leaf();
    stop();
    leaf();
}

F static void make(ucontext_t *c, void (*fn)(void), ucontext_t *then)
{
    getcontext(c);
    c->uc_stack.ss_sp = malloc(STACK);
    c->uc_stack.ss_size = STACK;
    c->uc_link = then;
    makecontext(c, fn, 0);
}

F static void go_on(ucontext_t *here)
{
    back = here;
    swapcontext(here, &wanderer);
}

F static void *second(void *arg)
{
    go_on(&homes[1]);
    return arg;
}

static ucontext_t locals[THREADS];
static pthread_barrier_t barrier;

F static void local(void)
{
    pthread_barrier_wait(&barrier);
    leaf();
}

F static void *many(void *arg)
{
    int i = (int)(long)arg;
    home = &homes[2 + i];
    make(&locals[i], local, home);
    swapcontext(home, &locals[i]);
    leaf();
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    make(&wanderer, wander, &homes[0]);
    go_on(&homes[0]);
    pthread_create(&t[0], NULL, second, NULL);
    pthread_join(t[0], NULL);
    go_on(&homes[0]);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, many, (void *)(long)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    leaf();
    return 0;
}

/* calls:
main
  make
  go_on
  go_on
  leaf
--
wander
  leaf
  stop
  leaf
  stop
  leaf
local
  leaf
--
second
  go_on
--
many
  make
  leaf
x3
--
local
  leaf
x2
 */
