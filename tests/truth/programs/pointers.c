/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls through pointers: callbacks of qsort and bsearch, tables, and pointers to PLT functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add(int a, int b)
{
    return a + b;
}

static int sub(int a, int b)
{
    return a - b;
}

static int mul(int a, int b)
{
    return a * b;
}

static int (*const table[])(int, int) = {add, sub, mul};

static void at_exit(void)
{
    puts("at exit");
}

/* A call whose target is read from memory that it overwrites. */
typedef int (*step_fn)(void *);
static int last_step(void *slot)
{
    *(step_fn *)slot = NULL;
    return 0;
}

static int first_step(void *slot)
{
    *(step_fn *)slot = last_step;
    return 1;
}

int main(void)
{
    static const char *names[] = {"ant", "fox", "bee", "elk", "cat", "dog", "owl", "yak"};
    size_t (*volatile length)(const char *) = strlen;
    int numbers[200], sum = 0, key = 77;
    unsigned seed = 1;
    atexit(at_exit);
    for (size_t i = 0; i < 200; i++)
        numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 16) % 1000;
    qsort(numbers, 200, sizeof *numbers, by_value);
    qsort(names, 8, sizeof *names, by_name);
    for (int i = 0; i < 100; i++)
        sum = table[i * 7 % 3](sum, i);
    step_fn step = first_step;
    while (step)
        step(&step);
    printf("%d %s %zu %d\n", numbers[50], names[3], length(names[1]), sum);
    return bsearch(&key, numbers, 200, sizeof *numbers, by_value) != NULL;
}
