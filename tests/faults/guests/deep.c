/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursion N deep, twice, on a thread with a stack for it. */
#include "guest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

F static long down(long n)
{
    WORK();
    return n == 0 ? 0 : 1 + down(n - 1);
}

static void *in_thread(void *arg)
{
    long n = *(long *)arg;
    printf("%ld\n", down(n) + down(n));
    return NULL;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1;
    pthread_t t;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256u << 20);
    if (pthread_create(&t, &attr, in_thread, &n) != 0)
        return 1;
    pthread_join(t, NULL);
    return 8;
}
