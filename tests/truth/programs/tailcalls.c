/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tail calls: mutual, through pointers and tables, conditional, through the PLT, out of a PLT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*state_fn)(const char *text, int n);

static int letter(const char *text, int n);
static int digit(const char *text, int n);
static int finish(const char *text, int n);

__attribute__((noinline)) static state_fn next_state(char c)
{
    return c == 0 ? finish : c >= '0' && c <= '9' ? digit : letter;
}

__attribute__((noinline)) static int letter(const char *text, int n)
{
    state_fn next = next_state(*text);
    return next(text + (*text != 0), n + 1);
}

__attribute__((noinline)) static int digit(const char *text, int n)
{
    state_fn next = next_state(*text);
    return next(text + (*text != 0), 2 * n);
}

__attribute__((noinline)) static int finish(const char *text, int n)
{
    return text[0] + n;
}

int ping(int n);
int pong(int n);

/* Conditional tail calls. */
__attribute__((noinline)) int ping(int n)
{
    if (n == 0)
        return 1;
    return pong(n - 1);
}

__attribute__((noinline)) int pong(int n)
{
    if (n <= 0)
        return 2;
    return ping(n - 2);
}

/* A tail call of itself is a loop. */
__attribute__((noinline)) static int down(int n, int sum)
{
    return n == 0 ? sum : down(n - 1, sum ^ n);
}

__attribute__((noinline)) static int say(const char *text)
{
    return puts(text);
}

__attribute__((noinline)) static void *get(size_t n)
{
    return malloc(n);
}

__attribute__((noinline)) static size_t measure(const char *text)
{
    return strlen(text);
}

__attribute__((noinline)) static void drop(void *p)
{
    free(p);
}

int main(void)
{
    volatile int n = 9;
    int sum = letter("ab12c3", 1) + ping(20) + ping(21) + down(n, 0);
    for (int i = 0; i < 5; i++)
        drop(get((size_t)i + 10));
    printf("%d %zu\n", sum, measure("abc") + (size_t)n);
    return say("done") < 0;
}
