/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C library's qsort() with a comparison function of the program: calls into a library and back.
 * `sort N` sorts N numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
    uint32_t *a = malloc(n * sizeof *a), x = 1;
    if (!a)
        return 1;
    for (size_t i = 0; i < n; i++)
        a[i] = x = x * 1664525 + 1013904223;
    qsort(a, n, sizeof *a, compare);
    printf("%u\n", (unsigned)a[n / 2]);
    free(a);
    return 0;
}
