/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nested loops, floating point, conditions of several parts. */
#include <stdio.h>

#define N 6

static double a[N][N], b[N][N], c[N][N];

static void fill(double m[N][N], double scale)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            m[i][j] = scale * (i + 1) / (j + 1);
}

static void multiply(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < N; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
    }
}

static int is_prime(unsigned n)
{
    if (n < 2 || (n > 2 && n % 2 == 0))
        return 0;
    for (unsigned d = 3; d * d <= n; d += 2) {
        if (n % d == 0)
            return 0;
    }
    return 1;
}

static unsigned long long collatz(unsigned long long n)
{
    unsigned long long steps = 0;
    while (n != 1 && steps < 1000) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

static double clamp(double x, double lo, double hi)
{
    if (x < lo) {
        x = lo;
    } else if (x > hi) {
        x = hi;
    }
    return x;
}

int main(void)
{
    double trace = 0;
    unsigned primes = 0;
    unsigned long long longest = 0;
    fill(a, 1.5);
    fill(b, 0.25);
    multiply();
    for (int i = 0; i < N; i++)
        trace += clamp(c[i][i], 2, 10);
    for (unsigned n = 0; n < 200; n++)
        if (is_prime(n))
            primes++;
    for (unsigned n = 1; n < 40; n++) {
        unsigned long long steps = collatz(n);
        if (steps > longest)
            longest = steps;
    }
    printf("%.3f %u %llu\n", trace, primes, longest);
    return trace < 0;
}
