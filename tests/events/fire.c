/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A traced program: fire OPTION... -- ACTION. Each option is one of -trace. hm_two(a, b) carries
 * the number of the thread, and the event's among those of its thread.
 *
 *   count N THREADS   each thread records N events; then descriptor 9 is closed and main returns
 *   exit N            N events, then _exit() after a flush
 *   endless THREADS   threads record until the process is killed
 *   fork N            N events, 4 threads that go on recording, then a child and a grandchild that
 *                     record N each
 *   segv|abort|term N N events, then dies so
 *   full N            N events, the file may not grow; N that do not fit; N more when it may again
 *   gap N MORE        N events, descriptor 9 is closed; when those that were not lost are in the
 * file, MORE with the numbers after them dump N            N events, dumped to "dumped"; N more
 */
#include "handmade.h"

#include <guesttrace/control.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRED_FD = 9 };

static uint64_t events;
static volatile int *volatile nowhere;

static void *fire(void *thread)
{
    for (uint64_t i = 0; i < events; i++)
        trace_hm_two((int)(intptr_t)thread, i);
    return NULL;
}

static void fire_threads(int threads)
{
    pthread_t t[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, fire, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static pthread_barrier_t begun, forked;

/* Threads begin before fork() and end after it: a child inherits the sanitizers' locks as they are,
 * and who begins or ends holds some. So does the writer, which a flush waits for. */
static void *fire_over_fork(void *thread)
{
    trace_hm_two((int)(intptr_t)thread, 0);
    pthread_barrier_wait(&begun);
    for (uint64_t i = 1; i < events; i++)
        trace_hm_two((int)(intptr_t)thread, i);
    pthread_barrier_wait(&forked);
    return NULL;
}

static int fork_twice(void)
{
    pthread_t t[4];
    fire((void *)10);
    pthread_barrier_init(&begun, NULL, 5);
    pthread_barrier_init(&forked, NULL, 5);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, fire_over_fork, (void *)(intptr_t)i);
    pthread_barrier_wait(&begun);
    pid_t child = fork();
    if (child == 0) {
        fire((void *)11);
        gt_trace_file_flush(NULL);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            fire((void *)12);
            exit(0);
        }
        fire((void *)13);
        exit(wait_for(grandchild));
    }
    pthread_barrier_wait(&forked);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return wait_for(child);
}

static void limit_file(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int fill(void)
{
    struct gt_trace_error error = {0};
    struct gt_trace_file_status status;
    signal(SIGXFSZ, SIG_IGN);
    fire((void *)0);
    gt_trace_file_flush(NULL);
    gt_trace_file_status(&status);
    limit_file(status.bytes + 100); /* room for two records, and a part of one */
    fire((void *)1);
    if (gt_trace_file_flush(&error) != GT_TRACE_E_IO || gt_trace_file_flush(NULL) != GT_TRACE_OK)
        return 1;
    struct stat file;
    gt_trace_file_status(&status);
    if (stat(status.path, &file) != 0 || (uint64_t)file.st_size != status.bytes)
        return 1; /* a part of a record is left */
    limit_file(RLIM_INFINITY);
    fire((void *)2);
    gt_trace_file_status(&status);
    return gt_trace_file_flush(NULL) != GT_TRACE_OK || status.dropped != events - 2;
}

static int leave_gap(uint64_t more)
{
    struct gt_trace_file_status status;
    fire((void *)0);
    close(FIRED_FD);
    do
        gt_trace_file_status(&status);
    while (status.events + status.dropped < events);
    for (uint64_t i = events; i < events + more; i++)
        trace_hm_two(0, i);
    return 0;
}

static int act(const char *action, int number)
{
    if (strcmp(action, "exit") == 0) {
        fire((void *)0);
        _exit(gt_trace_file_flush(NULL) || gt_trace_log_flush(NULL));
    }
    if (strcmp(action, "endless") == 0) {
        events = UINT64_MAX;
        fire_threads(number);
    }
    if (strcmp(action, "fork") == 0)
        return fork_twice();
    if (strcmp(action, "full") == 0)
        return fill();
    fire((void *)0);
    if (strcmp(action, "segv") == 0)
        *nowhere = 0;
    if (strcmp(action, "abort") == 0)
        abort();
    if (strcmp(action, "term") == 0)
        raise(SIGTERM);
    if (strcmp(action, "dump") != 0 || gt_trace_file_dump("dumped", NULL) != GT_TRACE_OK)
        return 1;
    fire((void *)1);
    return 0;
}

int main(int argc, char **argv)
{
    struct gt_trace_error error = {0};
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (gt_trace_parse(argv[at], stdout, stderr, &error) < 0) {
            fprintf(stderr, "fire: %s\n", error.text);
            return 2;
        }
    }
    if (at + 2 >= argc)
        return 2;
    int number = atoi(argv[at + 2]);
    events = (uint64_t)number;
    if (strcmp(argv[at + 1], "gap") == 0 && at + 3 < argc)
        return leave_gap((uint64_t)atoi(argv[at + 3]));
    if (strcmp(argv[at + 1], "count") != 0)
        return act(argv[at + 1], number);
    fire_threads(at + 3 < argc ? atoi(argv[at + 3]) : 1);
    close(FIRED_FD);
    return 0;
}
