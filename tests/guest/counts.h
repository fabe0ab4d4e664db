/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thirty functions, most of them static: recursion, callbacks, switches, jumps. The compiler calls
 * __cyg_profile_func_enter in each; inlined ones are kept from it by F.
 */
#include "guest.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET __attribute__((no_instrument_function))
enum { FUNCTIONS = 64 };

static struct {
    void *fn;
    unsigned long calls;
} counts[FUNCTIONS];

QUIET void __cyg_profile_func_enter(void *fn, void *site);
QUIET void __cyg_profile_func_exit(void *fn, void *site);

QUIET void __cyg_profile_func_enter(void *fn, void *site)
{
    (void)site;
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!counts[i].fn)
            counts[i].fn = fn;
        if (counts[i].fn == fn) {
            counts[i].calls++;
            return;
        }
    }
}

QUIET void __cyg_profile_func_exit(void *fn, void *site)
{
    (void)fn, (void)site;
}

#define TINY(name)                                                                                 \
    F static int name(int x)                                                                       \
    {                                                                                              \
        return x + WORK();                                                                         \
    }
#define TINIES  X(t0) X(t1) X(t2) X(t3) X(t4) X(t5) X(t6) X(t7) X(t8) X(t9)
#define X(name) TINY(name)
TINIES
#undef X

#define X(name) name,
static int (*const tinies[])(int) = {TINIES};
#undef X

F static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

F static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

F static int is_odd(unsigned n);

F static int is_even(unsigned n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}

F static int is_odd(unsigned n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

F static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

F static int sort(void)
{
    int numbers[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = i * 7919 % 100;
    qsort(numbers, 100, sizeof *numbers, compare);
    return numbers[50];
}

F static int find(int key)
{
    int numbers[32];
    for (int i = 0; i < 32; i++)
        numbers[i] = i;
    int *at = bsearch(&key, numbers, 32, sizeof *numbers, compare);
    return at ? *at : -1;
}

F static int select_one(int i, int x)
{
    switch (i) {
    case 0:
        return t0(x);
    case 1:
        return t1(x) + 1;
    case 2:
        return t2(t3(x));
    case 3:
        return tinies[4](x);
    default:
        return tinies[i % 10](x);
    }
}

F static double real(double x)
{
    return x * 0.5 + WORK();
}

F static long long wide(long long a, long long b, long long c, long long d, long long e,
                        long long f, long long g, long long h, long long i, long long j)
{
    return a + b + c + d + e + f + g + h + i + j + WORK();
}

struct big {
    int values[40];
};

F static struct big by_value(struct big b)
{
    b.values[0] += WORK();
    return b;
}

F static int big(void)
{
    struct big b = {{1}};
    for (int i = 0; i < 5; i++)
        b = by_value(b);
    return b.values[0];
}

static jmp_buf env;

F static int thrower(int n)
{
    if (n == 0)
        longjmp(env, 1);
    return thrower(n - 1) + 1;
}

F static int catcher(int n)
{
    if (setjmp(env))
        return WORK();
    return thrower(n);
}

F static int variable(int n)
{
    char text[n + 1];
    memset(text, 'x', (size_t)n);
    text[n] = '\0';
    return (int)strlen(text);
}

F static int apply(int (*fn)(int), int x)
{
    return fn(x);
}

F static int loop(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += select_one(i % 8, i);
    return sum;
}

F static int chain3(int x)
{
    return t5(x);
}

F static int chain2(int x)
{
    return x & 1 ? chain3(x) : t6(x);
}

F static int chain1(int x)
{
    return chain2(x + 1);
}

F int everything(void)
{
    int sum = fibonacci(15) + ackermann(2, 3) + is_even(21) + sort() + find(7) + find(99);
    sum += loop(100) + (int)real(2.0) + (int)wide(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) + big();
    for (int i = 0; i < 20; i++)
        sum += catcher(i % 3) + variable(i) + apply(tinies[i % 10], i) + chain1(i);
    return sum;
}

struct name {
    void *fn;
    const char *name;
};

#define X(n) {n, #n},
QUIET static const char *name_of(void *fn)
{
    static const struct name names[] = {
        TINIES X(fibonacci) X(ackermann) X(is_even) X(is_odd) X(compare) X(sort) X(find)
            X(select_one) X(real) X(wide) X(by_value) X(big) X(thrower) X(catcher) X(variable)
                X(apply) X(loop) X(chain1) X(chain2) X(chain3) X(everything)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].fn == fn)
            return names[i].name;
    return "main";
}
#undef X

int main(void)
{
    work_done = everything();
    for (int i = 0; i < FUNCTIONS && counts[i].fn; i++)
        printf("%s %lu\n", name_of(counts[i].fn), counts[i].calls);
    return 0;
}
