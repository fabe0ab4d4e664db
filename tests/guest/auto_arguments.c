/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of every type that print what they are called with and what they return, as replay
 * shows it: see auto_arguments_test.py. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KEPT     __attribute__((noinline, noclone))
#define NOT_PURE __asm__ volatile("" ::: "memory")

enum color { RED, GREEN, BLUE = -3 };
enum mode { READ = 1, WRITE = 2, SYNC = 8 };
struct pair {
    int x;
    double y;
};
struct gap {
    unsigned char c;
    unsigned three : 3;
    unsigned short s;
};
struct big {
    long n[6];
};
struct file {
    char name[8];
    long pos;
    const char *path;
    unsigned flags : 3;
    enum mode mode;
};

KEPT int8_t integers(int8_t a, uint8_t b, short c, unsigned short d, int e, unsigned f, long g,
                     unsigned long h, long long i)
{
    printf("integers(a=%d, b=%u, c=%d, d=%u, e=%d, f=%u, g=%ld, h=%lu, i=%lld) = %d\n", a, b, c, d,
           e, f, g, h, i, a);
    NOT_PURE;
    return a;
}

static const char *color_name(enum color c)
{
    return c == RED ? "RED" : c == GREEN ? "GREEN" : "BLUE";
}

KEPT enum color enums(enum color c, enum mode m, const char *shown, bool on)
{
    printf("enums(c=%s, m=%s, shown=\"%s\", on=%s) = %s\n", color_name(c), shown, shown,
           on ? "true" : "false", color_name(c));
    NOT_PURE;
    return c;
}

KEPT double floats(float a, double b, int n, double c)
{
    printf("floats(a=%f, b=%f, n=%d, c=%f) = %f\n", (double)a, b, n, c, b);
    NOT_PURE;
    return b;
}

KEPT char letters(char c, const char *s, const char *shown)
{
    printf("letters(c='%c', s=%s) = '%c'\n", c, shown, c);
    NOT_PURE;
    return c;
}

KEPT void *pointers(void *p, struct file *f)
{
    printf("pointers(p=%p, f=%p{name=\"%s\", pos=%ld, path=\"%s\", mode=READ|SYNC}) = %p\n", p,
           (void *)f, f->name, f->pos, f->path, p);
    NOT_PURE;
    return p;
}

KEPT struct pair by_value(struct pair p, struct big b, int last)
{
    printf("by_value(p=pair{x=%d, y=%f}, b=big, last=%d)\n", p.x, p.y, last);
    NOT_PURE;
    b.n[0] = last;
    p.x += (int)b.n[0];
    return p;
}

/* The caller's bytes between the members are not 0. */
KEPT int gaps(struct gap g, int last)
{
    printf("gaps(g=gap{0x%x}, last=%d) = %d\n", g.c | g.three << 8 | (unsigned)g.s << 16, last,
           last);
    NOT_PURE;
    return last;
}

static __attribute__((noinline)) void fill(struct gap *g)
{
    memset(g, 0xff, sizeof *g);
    g->c = 'a';
    g->three = 5;
    g->s = 0x1234;
}

KEPT long double wide(long double a, int n, double b, long double c)
{
    printf("wide(a=%Lf, n=%d, b=%f, c=%Lf) = %Lf\n", a, n, b, c, c);
    NOT_PURE;
    return c;
}

KEPT void nothing(void)
{
    printf("nothing() = ?\n");
    NOT_PURE;
}

int main(void)
{
    struct file file = {"abc", -5, "/etc/passwd", 7, READ | SYNC};
    integers(-1, 255, -300, 65535, -100000, 4000000000u, -5, 1ul << 63, -7);
    integers(0, 0, 0, 0, 0, 0, 0, 0, 0);
    enums(RED, READ, "READ", true);
    enums(BLUE, READ | SYNC, "READ|SYNC", false);
    enums(GREEN, 32, "0x20", true);
    floats(1.5f, -2.25, 3, 1e10);
    letters('x', "a\tb\"c", "\"a\\tb\\\"c\"");
    letters('y', NULL, "NULL");
    letters('z', (char *)24, "<0x18>");
    pointers(&file, &file);
    by_value((struct pair){3, 4.5}, (struct big){{1, 2}}, 9);
    struct gap gap;
    fill(&gap);
    gaps(gap, 7);
    wide(3.5L, 4, 1.25, -1e10L);
    wide(-0.0L, -4, 0, 1.0L / 3);
    nothing();
    fopen("/nonexistent/file", "r");
    return 0;
}
