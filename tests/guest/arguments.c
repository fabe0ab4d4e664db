/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that print what they are called with and what they return: see arguments_test.py. */
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>

#define KEPT     __attribute__((noinline, noclone))
#define NOT_PURE __asm__ volatile("" ::: "memory")

KEPT long ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
    long r = a + b + c + d + e + f + g + h + i - j;
    printf("ten(%ld, %ld, %ld, %ld, %ld, %ld, %ld, %ld, %ld, %ld) = %ld\n", a, b, c, d, e, f, g, h,
           i, j, r);
    return r;
}

KEPT double floats(double a, double b, double c, double d, double e, double f, double g, double h)
{
    double r = a + b + c + d + e + f + g - h;
    printf("floats(%f, %f, %f, %f, %f, %f, %f, %f) = %f\n", a, b, c, d, e, f, g, h, r);
    return r;
}

KEPT int text(const char *s, const char *shown)
{
    printf("text(%s) = 7\n", shown);
    NOT_PURE;
    return 7;
}

KEPT int down(int n)
{
    int r = n ? down(n - 1) + n : 0;
    printf("down(%d) = %d\n", n, r);
    return r;
}

static jmp_buf back;

KEPT int jumps(int n)
{
    NOT_PURE;
    if (n < 3)
        return jumps(n + 1) + 1;
    longjmp(back, 1);
}

int main(void)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = -3; i < 3; i++)
        ten(i, i << 40, -i, 4, 5, 6, 7 * i, 8, 9, 10 - i);
    floats(1.5, -2.25, 3, 4, 5, 6, 7, 8.5);
    text("plain", "\"plain\"");
    text("", "\"\"");
    text(NULL, "NULL");
    text((char *)16, "\"<0x10>\"");
    munmap(page + 4096, 4096);
    page[4094] = 'a';
    page[4095] = 'b'; /* without an end */
    text(page + 4094, "\"ab...\"");
    down(3);
    if (!setjmp(back))
        jumps(0);
    down(1);
    return 0;
}
