/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library for libraries.c. */
int called(int x);
__attribute__((noinline)) static int inner(int x)
{
    return x + 1;
}

int called(int x)
{
    return inner(x) * 2;
}
