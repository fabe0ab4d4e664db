/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls work() a thousand times, waits for a line of standard input, and calls it a thousand times
 * more. With "child" the second half is a forked child's, which the parent does not wait for; it
 * waits for the FIFO that is named then. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned sum;

__attribute__((noinline)) void work(unsigned i)
{
    sum += i;
}

static void half(void)
{
    for (unsigned i = 0; i < 1000; i++)
        work(i);
}

int main(int argc, char **argv)
{
    char c;
    int from = 0;
    half();
    if (argc > 2 && strcmp(argv[1], "child") == 0) {
        if (fork() != 0)
            return 3;
        close(1);
        close(2);
        from = open(argv[2], O_RDONLY);
    } else {
        puts("half");
        fflush(stdout);
    }
    if (read(from, &c, 1) != 1)
        return 1;
    half();
    return 3;
}
