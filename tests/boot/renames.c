/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of the guest that gives its thread as many names as it is told. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    char name[16];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "name-%d", i);
        prctl(PR_SET_NAME, name);
    }
    return 0;
}
