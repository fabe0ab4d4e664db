/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that each call tick() and count the calls in a word of a shared file of their own:
 * `family FILE CHILDREN COUNT`. Word 0 is the parent's, which waits for its children; COUNT 0: they
 * go on.
 */
#include "guest.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

F static void leaf(void)
{
    WORK();
}

F static void tick(void)
{
    leaf();
}

F static void count(volatile uint64_t *word, uint64_t n)
{
    while (n == 0 || *word < n) {
        tick();
        ++*word;
    }
}

int main(int argc, char **argv)
{
    int children = argc > 2 ? atoi(argv[2]) : 1;
    uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
    size_t size = sizeof(uint64_t) * (size_t)(children + 1);
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return 1;
    volatile uint64_t *word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (word == MAP_FAILED)
        return 2;
    for (int i = 1; i <= children; i++)
        if (fork() == 0) {
            count(&word[i], n);
            _exit(0);
        }
    count(&word[0], n);
    while (wait(NULL) > 0)
        continue;
    return 5;
}
