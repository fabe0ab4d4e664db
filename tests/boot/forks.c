/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forks again and again, each time from another depth of calls, before the children made so far
 * have begun; they all end on their way back from there. It leaves as many calls by longjmp().
 *
 * usage: forks ROUNDS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t fork_in_time(unsigned depth);

/* Two that call each other: the one's calls are not the other's. */
static __attribute__((noinline)) pid_t fork_at(unsigned depth)
{
    pid_t pid = depth ? fork_in_time(depth - 1) : fork();
    __asm__ volatile("" : "+r"(pid)); /* no jump instead of a call */
    return pid;
}

static __attribute__((noinline)) pid_t fork_in_time(unsigned depth)
{
    pid_t pid = depth ? fork_at(depth - 1) : fork();
    __asm__ volatile("" : "+r"(pid) : : "memory");
    return pid;
}

static jmp_buf place;

static __attribute__((noinline)) int leap_from(int depth)
{
    if (depth < 0)
        return 0;
    if (depth == 0)
        longjmp(place, 1);
    int left = leap_from(depth - 1);
    __asm__ volatile("" : "+r"(left));
    return left;
}

static __attribute__((noinline)) int leap(void)
{
    return setjmp(place) ? 0 : leap_from(5);
}

int main(int argc, char **argv)
{
    static const unsigned depths[] = {1, 4, 2, 7};
    enum { CHILDREN = sizeof depths / sizeof depths[0] };
    int made = 0;
    /* Nobody else runs before it waits; its children are no such threads. */
    const struct sched_param param = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) != 0) {
        perror("sched_setscheduler");
        return 1;
    }
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
        for (unsigned d = 0; d < CHILDREN; d++) {
            pid_t pid = fork_at(depths[d]);
            if (pid == 0)
                return 0;
            made += pid > 0;
        }
        while (wait(NULL) > 0)
            continue;
        leap();
    }
    printf("FORKS %d\n", made);
    return 0;
}
