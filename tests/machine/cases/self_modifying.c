/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function that is written again and again, with other calls in it; also by what it has just
 * called.
 *
 * calls: 700
 * same: 7.2 10.0 11.1
 */
#include "kernel.h"

enum { TURNS = 40, SIZE = 96 };

void patched(void (*f)(void));
__asm__(".text\n.balign 256\n.globl patched\n.type patched, %function\npatched:\n.space 256\n"
        ".size patched, 256\n");

static volatile unsigned leaves;
static const void *volatile next; /* to be written by write_caller */

OWN static void leaf(void)
{
    CALLED(leaf);
    leaves++;
}

/* No call in these has a distance in it, so they may be elsewhere. */
OWN static void none(void (*f)(void))
{
    (void)f;
    __asm__ volatile("");
}

OWN static void once(void (*f)(void))
{
    f();
}

OWN static void twice(void (*f)(void))
{
    f();
    f();
}

OWN static void thrice(void (*f)(void))
{
    f();
    f();
    f();
}

OWN static void write_function(const void *from)
{
    CALLED(write_function);
    volatile unsigned char *to = (volatile unsigned char *)patched;

    for (unsigned i = 0; i < SIZE; i++)
        to[i] = ((const volatile unsigned char *)from)[i];
    k_code_changed();
}

OWN static void write_caller(void)
{
    CALLED(write_caller);
    if (next)
        write_function((const void *)next);
    next = 0;
}

OWN static void try(void (*form)(void (*)(void)), void (*f)(void))
{
    CALLED(try);
    write_function((const void *)form);
    k_enter(patched);
    patched(f);
    k_leave();
}

OWN void run(void)
{
    CALLED(run);
    for (unsigned i = 0; i < TURNS; i++) {
        unsigned before = leaves;
        try(none, leaf);
        try(thrice, leaf);
        try(once, leaf);
        try(twice, leaf);
        next = (const void *)thrice;
        try(twice, write_caller);
        if (leaves != before + 6)
            k_panic("calls", leaves);
    }
}
