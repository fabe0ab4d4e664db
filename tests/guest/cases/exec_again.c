/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that replaces itself by QEMU with the plugin and another program: the same directory is
 * continued, the process has a second session. Its frames were closed before.
 *
 * arches: x86_64
 * before: other -DOTHER
 * args: {qemu} {plugin} ./other {qemu} {plugin} ./other last
 */
#include "guest.h"

#include <stdio.h>
#include <unistd.h>

#ifdef OTHER
F static void second(int last)
{
    WORK();
    (void)last;
}

int main(int argc, char **argv)
{
    second(argc);
    if (argc > 2)
        execv(argv[1], argv + 1);
    puts("end");
    return 0;
}
#else
F static void first(char **argv)
{
    WORK();
    execv(argv[1], argv + 1);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first(argv);
    return 1;
}
#endif

/* calls:
main
  first
main
  second
main
  second
 */
