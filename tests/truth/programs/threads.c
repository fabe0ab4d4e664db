/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads whose calls do not depend on who runs first: each begins when the one before has ended,
 * and pthread_join has nothing to wait for: the program asks the kernel itself, without a call,
 * now and then until the thread is gone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static volatile long thread_id;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static inline __attribute__((always_inline)) long system_call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((noinline)) static long work(long n)
{
    return n < 2 ? 1 : work(n - 1) + n;
}

static void destroy(void *value)
{
    work(5);
    free(value);
}

static void make_key(void)
{
    pthread_key_create(&key, destroy);
}

static void cleanup(void *n)
{
    work((long)n);
}

__attribute__((noinline)) static void leave(long n)
{
    pthread_cleanup_push(cleanup, (void *)n);
    if (n % 2)
        pthread_exit((void *)n);
    pthread_cleanup_pop(0);
}

static void *run(void *arg)
{
    long n = (long)arg;
    thread_id = system_call(SYS_gettid, 0, 0, 0);
    pthread_once(&once, make_key);
    pthread_setspecific(key, malloc(10));
    work(10 * n);
    leave(n);
    return (void *)work(n);
}

int main(void)
{
    static const struct timespec moment = {0, 1000000};
    long sum = 0, process = system_call(SYS_getpid, 0, 0, 0);
    for (long i = 0; i < 6; i++) {
        pthread_t thread;
        void *result;
        thread_id = 0;
        if (pthread_create(&thread, NULL, run, (void *)i) != 0)
            return 1;
        /* valgrind runs one thread at a time: one that only looks would be the only one for long */
        while (!thread_id || system_call(SYS_tgkill, process, thread_id, 0) != -ESRCH)
            system_call(SYS_nanosleep, (long)&moment, 0, 0);
        pthread_join(thread, &result);
        sum += (long)result;
    }
    printf("%ld\n", sum);
    return 0;
}
