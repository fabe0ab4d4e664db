# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that symbols_check.py compiles."""
PROGRAM_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void *alias_of(size_t) __attribute__((alias("_first"), weak));
extern void *_first(size_t);
void *(*volatile get)(size_t) = malloc;
static __attribute__((noinline)) int helper(char *p, int n)
{
    memset(p, n, 10);
    return printf("%s %d\n", p, n);
}
void *_first(size_t n) { return get(n); }
__asm__(".text\n.globl by_hand\nby_hand:\n nop\n nop\ninner_label:\n nop\n nop\n");
int main(int argc, char **argv)
{
    char *p = _first(16);
    puts(argv[0]);
    return helper(p, argc) + (malloc(3) == 0) + (int)strlen(p);
}
"""
PROGRAM_CC = r"""
#include <iostream>
#include <map>
#include <string>
namespace space { template <class T> struct Box { T v; T get() const { return v; } virtual ~Box() {} }; }
int main(int argc, char **) {
    std::map<std::string, int> m;
    m["one"] = argc;
    space::Box<std::string> b{};
    b.v = "two";
    try { std::cout << b.get() << m.at("three"); } catch (std::exception &e) { std::cerr << e.what(); }
}
"""
PROGRAM_PIC = r"""
int far_one(int); int far_two(int); int far_three(int);
int local(int x) { return far_one(x) + far_two(x); }
int other(int x) { return far_three(x) - far_one(x); }
"""
