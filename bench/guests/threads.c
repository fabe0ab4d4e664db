/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N threads that live at once, each with calls of its own; then prints where the process' memory
 * is: the lines of /proc/self/smaps_rollup, which under QEMU's user mode are QEMU's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all_live, all_called;

static int calls(int n)
{
    return n < 2 ? n : calls(n - 1) + calls(n - 2);
}

static void *run(void *arg)
{
    pthread_barrier_wait(&all_live);
    int *out = arg;
    *out = calls(12);
    pthread_barrier_wait(&all_called);
    pthread_barrier_wait(&all_live); /* until the memory was read */
    return NULL;
}

static void print_memory(void)
{
    char line[256];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        fputs(line, stdout);
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10;
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    int *out = calloc((size_t)n, sizeof *out);
    pthread_attr_t attr;
    if (!threads || !out || pthread_attr_init(&attr) != 0 ||
        pthread_attr_setstacksize(&attr, 128 << 10) != 0)
        return 1;
    pthread_barrier_init(&all_live, NULL, (unsigned)n + 1);
    pthread_barrier_init(&all_called, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], &attr, run, &out[i]) != 0)
            return 1;
    pthread_barrier_wait(&all_live);
    pthread_barrier_wait(&all_called);
    print_memory();
    pthread_barrier_wait(&all_live);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(out);
    return 0;
}
