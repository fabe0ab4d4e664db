/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursion, callbacks from the C library, early returns, a function that never runs. */
#include <stdio.h>
#include <stdlib.h>

#include "ring.h"

static int steps;

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    steps++;
    if (x < y)
        return -1;
    return x > y;
}

static void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

static void quick(int *v, int lo, int hi)
{
    if (lo >= hi)
        return;
    int last = lo;
    for (int i = lo + 1; i <= hi; i++)
        if (v[i] < v[lo])
            swap(&v[++last], &v[i]);
    swap(&v[lo], &v[last]);
    quick(v, lo, last - 1);
    quick(v, last + 1, hi);
}

static int search(const int *v, int n, int key)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (v[mid] == key)
            return mid;
        if (v[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

static int never(int x)
{
    for (int i = 0; i < x; i++)
        x -= i;
    return x;
}

int main(int argc, char **argv)
{
    int v[40], w[40];
    unsigned seed = 12345;
    for (int i = 0; i < 40; i++) {
        seed = seed * 1103515245 + 12345;
        v[i] = w[i] = (int)(seed >> 16 & 255);
    }
    quick(v, 0, 39);
    qsort(w, 40, sizeof *w, compare);
    int found = 0;
    for (int key = 0; key < 256; key += 5)
        found += search(v, 40, key) >= 0;
    if (argc > 5)
        found = never((int)argv[0][0]);
    struct ring ring = {{0}, 0, 0};
    for (int i = 0; i < 20; i++)
        if (!ring_put(&ring, i))
            ring_get(&ring);
    printf("%d %d\n", found, steps > 0);
    return 0;
}
