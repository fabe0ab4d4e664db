/* SPDX-License-Identifier: GPL-2.0-or-later */
/* N rounds of calls; then says so. `busy N [PATH [TO]]`: after half of them, removes PATH, or moves
 * it to TO. */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

F static void leaf(void)
{
    WORK();
}

F static void middle(void)
{
    leaf();
    leaf();
}

F static void rounds(long n)
{
    for (long i = 0; i < n; i++)
        middle();
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10;
    rounds(n / 2);
    if (argc > 3)
        rename(argv[2], argv[3]);
    else if (argc > 2)
        unlink(argv[2]);
    rounds(n - n / 2);
    printf("done %ld %d\n", n, work_done);
    return 7;
}
