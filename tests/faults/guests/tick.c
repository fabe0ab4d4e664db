/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls tick() and counts the calls in a shared file, which outlives it: `tick FILE END COUNT`.
 * After COUNT calls it ends in the way END says; "never": it goes on.
 */
#include "guest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

F static void leaf(void)
{
    WORK();
}

F static void tick(void)
{
    leaf();
}

F static void end(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        *(volatile int *)16 = 1;
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "exit") == 0)
        _exit(9);
}

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (argc < 4 || fd < 0 || ftruncate(fd, 4096) != 0)
        return 1;
    volatile uint64_t *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t last = strtoull(argv[3], NULL, 10);
    for (;;) {
        tick();
        *count = *count + 1;
        if (*count == last)
            end(argv[2]);
        if (*count == 3000000)
            return 2;
    }
}
