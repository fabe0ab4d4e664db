/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N threads, one after another, each with a few calls. */
#include <pthread.h>
#include <stdlib.h>

static int calls(int n)
{
    return n < 2 ? n : calls(n - 1) + calls(n - 2);
}

static void *run(void *arg)
{
    *(int *)arg = calls(5);
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10, out = 0;
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, &out) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    return out != 5;
}
