/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of every kind of parameters and names: see events_test.py. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define F __attribute__((noipa))

enum colour { RED, GREEN = 5 };
enum sign { MINUS = -1, ONE };
struct pair {
    long a, b;
};
struct big {
    long a[8];
};
union either {
    int i;
    float f;
};
typedef unsigned char byte;
typedef int (*handler)(int);
typedef const char *text_t;

F int ints(char c, signed char sc, unsigned char uc, short s, unsigned short us, int i, unsigned u,
           long l, unsigned long ul, long long ll)
{
    return c + sc + uc + s + us + i + (int)(u + l + ul + ll);
}
F bool names(bool b, size_t n, ssize_t m, uintptr_t p, ptrdiff_t d, int8_t i8, uint64_t u64,
             byte by, off_t o)
{
    return b && n + m + p + d + i8 + u64 + by + o;
}
F const char *pointers(const char *s, char *t, void *v, struct pair *p, int *i, handler h, text_t x,
                       const char **ss, unsigned char *bytes)
{
    return t && v && p && i && h && x && ss && bytes ? s : NULL;
}
F enum colour enums(enum colour c, enum sign s)
{
    return s ? c : RED;
}
F double floats(double d, int i, float f, int j)
{
    return d + i + f + j;
}
/* The ninth float is passed as an integer where there are 8 registers of floats. */
F int nine(double a, double b, double c, double d, double e, double f, double g, double h, double i,
           int j)
{
    return j + (int)(a + b + c + d + e + f + g + h + i);
}
F int pairs(int i, struct pair p, int j)
{
    return i + (int)p.a + j;
}
F struct pair gives(int i)
{
    return (struct pair){i, 1};
}
/* The result's address is the first argument, or in a register of its own. */
F struct big gives_big(int i)
{
    return (struct big){{i}};
}
F int unions(union either e, int j)
{
    return e.i + j;
}
F int variadic(const char *format, ...)
{
    return *format;
}
F int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l)
{
    return a + b + c + d + e + f + g + h + i + j + k + l;
}
F void nothing(void)
{
}
F static int hidden(int i)
{
    return i;
}
F int arrays(int a[4], char s[8])
{
    return a[0] + s[0];
}
F int qualified(const volatile int *const p, volatile int v)
{
    return *p + v;
}

/* Names: as a compiler's copies have them; two functions and a result that would have one name. */
int dotted(int i) __asm__("odd.name.0");
F int dotted(int i)
{
    return i;
}
F int odd_name_0(int k)
{
    return k;
}
F int twice(int i)
{
    return i;
}
F int twice_return(int i)
{
    return i;
}
int no_place(int i) __asm__("no$place");
F int no_place(int i)
{
    return i;
}

int main(void)
{
    return hidden(1);
}
