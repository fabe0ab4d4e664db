/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls, loops and a system call; the exit status is told. */
#include <stdio.h>
#include <string.h>

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    printf("%d %zu\n", fibonacci(12), strlen(text));
    return 42;
}
