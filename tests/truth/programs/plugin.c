/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plugin of plugins.c: KIND makes several whose functions are at other addresses. */
#include <stdio.h>
#include <string.h>

int plugin_run(int n, int (*callback)(int));

#if KIND == 2
__attribute__((noinline)) static int extra(int n)
{
    char text[30];
    snprintf(text, sizeof text, "%d", n);
    return (int)strlen(text);
}
#endif

static volatile int steps;

__attribute__((noinline)) static int step(int n)
{
    int below = n < 2 ? 1 : step(n - 1);
    steps = steps + 1;
    return below + KIND;
}

__attribute__((constructor)) static void begin(void)
{
    step(KIND);
}

__attribute__((destructor)) static void end(void)
{
    step(2 * KIND);
}

int plugin_run(int n, int (*callback)(int))
{
#if KIND == 2
    n += extra(n);
#endif
    return step(callback(n)) + callback(1);
}
