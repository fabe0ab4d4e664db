/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops and conditions that share lines, expressions over several, tables of jumps. */
/* clang-format off */
#include <stdio.h>
#include <string.h>
struct p { int x, y; };
static int sq(int x) { return x * x; }
static void show(const char *s,
                 int n)
{
    if (!s ||
        n < 0 ||
        (n > 100 &&
         strlen(s) > 3))
        return;
    printf("%s %d\n",
           s, sq(
               n));
}
static long mix(long a, long b, int op)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return b ? a / b : 0;
    case 4: a <<= 1; /* fall */
    case 5: a ^= b; break;
    case 6: { while (a > b) a -= 3; } break;
    case 7: for (int i = 0; i < 3; i++) if (i == 1) continue; else a += i; break;
    case 8: do a++; while (a < 4); break;
    default: a = -a;
    }
    return a;
}
static int parse(const char *s, struct p *out)
{
    int n = 0;
    for (const char *at = s; at && *at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct p one = { .x = at[0] - '0',
                         .y = at[1] ? at[1] -
                              '0' : 0 };
        if (one.x < 0 || one.x > 9) { continue; }
        out[n++] = one;
        if (n == 4) goto full;
    }
    return n;
full:
    for (int i = 0; i < n; i++) { out[i].x++; if (out[i].x > 3) { out[i].y--; } else { out[i].y++; } }
    return n * 10;
}
static int and_or(int a, int b, int c)
{
    int r = 0;
    if (a && b) r++; else if (b || c) r--;
    r += a ? b ? 1 : 2 : c ? 3 : 4;
    while (a-- > 0 && b-- > 0) { if (c) break; r++; }
    return (r > 2) ? r : (r < -2) ? -r : 0;
}
int main(int argc, char **argv)
{
    struct p p[8];
    long sum = 0;
    double d = 0;
    unsigned long long u = 0x8000000000000000ull;
    for (int op = 0; op < 10; op++)
        for (long a = 0; a < 5; a++)
            sum += mix(a,
                       a + 1 - op % 3,
                       op);
    show(NULL, 1); show("x", -1);
    show("long text", 101);
    show("ok", 7);
    sum += parse("12,34,5", p) + parse("x1,23,45,67,89,11", p);
    for (int i = 0; i < 27; i++) sum += and_or(i % 3, i / 3 % 3, i / 9);
    for (int i = 0; i < 10; i++) {
        d += (double)u;
        u = (u >> 1) + (unsigned long long)d;
        if (d > 1e30) d = 0;
    }
    if (argc > 1 && argv[1][0] == 'x') { puts("x"); return 1; } else sum++;
    int i = 0, j = 10;
    while (i < j) i++, j--;
    do { i--; } while (i > 0);
    for (;;) { if (i++ > 5) break; }
    printf("%ld %d %d\n", sum, i, d > 3);
}
