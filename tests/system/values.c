/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine without an operating system that prints, on its serial port, what its functions are
 * called with and what they return, as replay shows it: see values_test.py. The second vCPU calls
 * `other` all the while; it prints nothing.
 */
#include <stdbool.h>
#include <stdint.h>

#define KEPT     __attribute__((noinline, noclone, noipa, used))
#define NOT_PURE __asm__ volatile("" ::: "memory")

enum state { IDLE, BUSY = 4 };
struct packet {
    uint16_t length;
    int kind;
    const char *name;
    char tag[4];
};

void run_tree(void);
void run_other(void);
unsigned landed(unsigned n);

enum { ENOUGH = 4 }; /* calls of the second vCPU before the first one begins */
static volatile unsigned may_end, has_begun;

#ifdef __x86_64__
static void put(char c)
{
    __asm__ volatile("outb %0, %1" ::"a"(c), "Nd"((uint16_t)0x3f8));
}
#elif defined __aarch64__
static void put(char c)
{
    *(volatile uint32_t *)0x9000000 = (uint8_t)c;
}
#else
static void put(char c)
{
    *(volatile uint8_t *)0x10000000 = (uint8_t)c;
}
#endif

static void text(const char *s)
{
    while (*s)
        put(*s++);
}

static void number(long n)
{
    char digits[24], *at = digits + sizeof digits;
    unsigned long left = n < 0 ? -(unsigned long)n : (unsigned long)n;
    *--at = 0;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        put('-');
    text(at);
}

static void hex(unsigned long n)
{
    text("0x");
    for (int bit = 60, some = 0; bit >= 0; bit -= 4) {
        unsigned digit = n >> bit & 15;
        some |= digit || !bit;
        if (some)
            put("0123456789abcdef"[digit]);
    }
}

KEPT long many(int8_t a, uint16_t b, long c, int d, int e, int f, int g, int h, int i, short j)
{
    const long v[] = {a, b, c, d, e, f, g, h, i, j};
    text("many(");
    for (unsigned k = 0; k < 10; k++) {
        text(k ? ", " : "");
        put((char)('a' + k));
        put('=');
        number(v[k]);
    }
    text(") = ");
    number(c - j);
    put('\n');
    return c - j;
}

KEPT const char *words(const char *s, const char *shown, enum state state, bool on)
{
    text("words(s=");
    text(shown);
    text(", state=");
    text(state == BUSY ? "BUSY" : "IDLE");
    text(on ? ", on=true)" : ", on=false)");
    put('\n');
    NOT_PURE;
    return s;
}

KEPT unsigned send(struct packet *p, unsigned flags)
{
    text("send(p=");
    hex((unsigned long)p);
    text("{length=");
    number(p->length);
    text(", kind=");
    number(p->kind);
    text(", name=\"");
    text(p->name);
    text("\", tag=\"");
    for (unsigned i = 0; i < sizeof p->tag && p->tag[i]; i++)
        put(p->tag[i]);
    text("\"}, flags=");
    number(flags);
    text(") = ");
    number(flags + p->length);
    put('\n');
    return flags + p->length;
}

KEPT unsigned other(unsigned n)
{
    NOT_PURE;
    return n + 1;
}

KEPT unsigned landed(unsigned n)
{
    return n;
}

KEPT void run_other(void)
{
    for (unsigned n = 0; !may_end; n++) {
        other(n & 0xff);
        if (n == ENOUGH)
            has_begun = 1;
    }
    has_begun = 2;
}

void wake_other(void);

KEPT void run_tree(void)
{
    static struct packet packet = {1500, -2, "first", {'a', 'b', 'c', 'd'}};
    wake_other();
    while (!has_begun)
        ;
    for (int i = 0; i < 8; i++)
        many((int8_t)-i, 65535, (long)i << 40, i, -2, 3, 4, 5, -100000, (short)(i - 4));
    words("plain", "\"plain\"", BUSY, true);
    words("a\tb", "\"a\\tb\"", IDLE, false);
    words(0, "NULL", IDLE, true);
    send(&packet, 7);
    packet.name = "second";
    packet.tag[2] = 0;
    send(&packet, 4000000000u);
    may_end = 1;
    while (has_begun != 2)
        ;
}
