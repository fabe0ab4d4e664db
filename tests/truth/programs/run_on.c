/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls a function of the C library whose code runs on into the next symbol's: on processors
 * without SSE 4.2 strncasecmp() finds its locale and runs on into strncasecmp_l(). */
#include <stdio.h>
#include <strings.h>

int main(int argc, char **argv)
{
    printf("%d %d\n", strncasecmp(argv[0], "SUCCESS", 7) == 0,
           strcasecmp(argv[argc - 1], "return") == 0);
    return 0;
}
