/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process does to itself: "threads", "fork", "exec", "abort", "wait" (for a
 * character, between two halves). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;

__attribute__((noinline)) static void work(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sum += i % 7;
}

static void *run(void *arg)
{
    work(*(unsigned *)arg);
    return NULL;
}

static int threads(void)
{
    pthread_t t[20];
    unsigned n = 20000;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++)
            pthread_create(&t[i], NULL, run, &n);
        for (int i = 0; i < 20; i++)
            pthread_join(t[i], NULL);
    }
    return 42;
}

static int forks(void)
{
    int status = 0;
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            pid_t grandchild = fork();
            work(200000);
            if (grandchild)
                waitpid(grandchild, &status, 0);
            exit(7);
        }
        waitpid(child, &status, 0);
        if (WEXITSTATUS(status) != 7)
            return 1;
    }
    work(1000);
    return 42;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "threads") == 0)
        return threads();
    if (strcmp(what, "fork") == 0)
        return forks();
    if (strcmp(what, "exec") == 0)
        execl("/bin/sh", "sh", "-c", "exit 42", (char *)NULL);
    if (strcmp(what, "abort") == 0)
        abort();
    work(100000);
    if (strcmp(what, "wait") == 0)
        getchar();
    work(100000);
    printf("%u\n", sum);
    return 42;
}
