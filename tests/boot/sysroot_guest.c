/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of the guest that says what is true of it: how often it called which of its functions,
 * and where it is. Built with -DNAME=x its functions are x_0, x_1, ...
 *
 *   COUNT x FUNCTION CALLS      a line each
 *   MAPS x LINE                 each line of its /proc/self/maps
 *
 * With an argument it waits in a function: riscv64's Linux then restores the floating-point
 * registers, and QEMU translates the code that follows again, for a CPU in another state.
 */
#include <stdio.h>
#include <unistd.h>

#define JOIN2(a, b)  a##_##b
#define JOIN(a, b)   JOIN2(a, b)
#define TEXT2(a)     #a
#define TEXT(a)      TEXT2(a)
#define FOR_EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define TIMES(n)     (3 * (n) + 1)

static volatile unsigned sum;
static volatile double real = 1;
static unsigned calls[12];
static int waits;

#define DEFINE(n)                                                                                  \
    __attribute__((noinline, noclone)) static void JOIN(NAME, n)(void)                             \
    {                                                                                              \
        for (unsigned i = 0; i < 5 + n * SHAPE; i++)                                               \
            sum += i ^ n;                                                                          \
        if (waits && n == 3)                                                                       \
            usleep(1000);                                                                          \
        calls[n]++;                                                                                \
    }
FOR_EACH(DEFINE)

#define CALL(n)                                                                                    \
    for (int i = 0; i < TIMES(n); i++)                                                             \
        JOIN(NAME, n)();
#define SAY(n) printf("COUNT %s %s_%d %u\n", TEXT(NAME), TEXT(NAME), n, calls[n]);

int main(int argc, char **argv)
{
    char line[512];
    (void)argv;
    waits = argc > 1;
    real *= 3; /* the registers are in use */
    FOR_EACH(CALL)
    FOR_EACH(SAY)
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        printf("MAPS %s %s", TEXT(NAME), line);
    return maps ? fclose(maps) : 1;
}
