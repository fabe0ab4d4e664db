/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that waits for a character in two nests of calls, by turns, until it is a q: see
 * states_test.py. */

#define N __attribute__((noinline))

#ifdef __x86_64__
enum { DATA = 0x3f8, STATUS = 0x3fd };

static unsigned char from(unsigned short port)
{
    unsigned char c;
    __asm__ volatile("inb %1, %0" : "=a"(c) : "Nd"(port));
    return c;
}

static inline void put(char c)
{
    __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((unsigned short)DATA));
}

static inline int get(void)
{
    while (!(from(STATUS) & 1))
        ;
    return from(DATA);
}
#elif defined __aarch64__
#define UART ((volatile unsigned *)0x09000000)

static inline void put(char c)
{
    UART[0] = (unsigned char)c;
}

static inline int get(void)
{
    while (UART[6] & 16)
        ;
    return UART[0] & 0xff;
}
#else
#define UART ((volatile unsigned char *)0x10000000)

static inline void put(char c)
{
    UART[0] = (unsigned char)c;
}

static inline int get(void)
{
    while (!(UART[5] & 1))
        ;
    return UART[0];
}
#endif

static volatile unsigned sum;

N void leaf(void)
{
    sum += 1;
}

N void work(int n)
{
    while (n--)
        leaf();
}

N int first_wait(void)
{
    put('1');
    int c = get();
    work(5);
    return c;
}

N int first_inner(void)
{
    int c = first_wait();
    work(1);
    return c;
}

N int first_outer(void)
{
    int c = first_inner();
    work(2);
    return c;
}

N int second_wait(void)
{
    put('2');
    int c = get();
    work(3);
    return c;
}

N int second_inner(void)
{
    int c = second_wait();
    work(4);
    return c;
}

N int second_middle(void)
{
    int c = second_inner();
    work(6);
    return c;
}

N int second_outer(void)
{
    int c = second_middle();
    work(7);
    return c;
}

N void end(void)
{
    sum += 2;
}

N __attribute__((used)) void begin(void)
{
    while (first_outer() != 'q' && second_outer() != 'q')
        ;
    end();
}
