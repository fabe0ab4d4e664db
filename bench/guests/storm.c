/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call storm: nothing but calls. `storm N` computes the Nth Fibonacci number the slow way. */
#include <stdio.h>
#include <stdlib.h>

int fib(int n);

int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
    printf("%d\n", fib(argc > 1 ? atoi(argv[1]) : 20));
    return 0;
}
