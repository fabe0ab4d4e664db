/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that ways.c loads and unloads. */
static volatile int sink;

__attribute__((noinline)) void library_leaf(int n)
{
    sink += n;
}

__attribute__((noinline)) void library_work(int n)
{
    for (int i = 0; i < n % 4 + 1; i++)
        library_leaf(i);
}
