/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of `make run`: places queens on a chess board, and sorts how far each search went. */
#include <stdio.h>
#include <stdlib.h>

enum { BOARD = 6 };

static int column[BOARD], steps[BOARD + 1];

__attribute__((noinline)) static int is_safe(int row, int at)
{
    for (int r = 0; r < row; r++) {
        int distance = row - r;
        if (column[r] == at || abs(column[r] - at) == distance)
            return 0;
    }
    return 1;
}

__attribute__((noinline)) static int place_queen(int row)
{
    int found = 0;
    steps[row]++;
    if (row == BOARD)
        return 1;
    for (int at = 0; at < BOARD; at++) {
        if (is_safe(row, at)) {
            column[row] = at;
            found += place_queen(row + 1);
        }
    }
    return found;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

__attribute__((noinline)) static void show(int found)
{
    qsort(steps, BOARD + 1, sizeof steps[0], compare);
    printf("%d ways to place %d queens; the widest row: %d tries\n", found, BOARD, steps[0]);
}

int main(void)
{
    show(place_queen(0));
    return 0;
}
