/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indirect jumps: interpreters whose operations end in computed jumps, which interrupts hit, and
 * call functions, by pointers too. One's operations begin anywhere, the other's where a table of
 * vectors might. Control comes to them by no other way than those jumps; to one it also falls and
 * branches.
 *
 * calls: 2500
 * anywhere: soft_interrupt machine_soft
 */
#include "kernel.h"

enum { TURNS = 60 };
enum { ADD, CALL, POINT, ASK, REPEAT, STOP };

static const unsigned char program[] = {ADD, ASK, CALL,  ASK,    REPEAT, POINT, ADD, ASK,
                                        ASK, ADD, POINT, REPEAT, CALL,   ADD,   STOP};
static volatile unsigned interrupts, sum;
static void (*volatile pointer)(void);

OWN static void leaf(void)
{
    CALLED(leaf);
    sum++;
}

OWN static void branch(void)
{
    CALLED(branch);
    leaf();
    leaf();
}

OWN void soft_interrupt(struct frame *f)
{
    (void)f;
    CALLED(soft_interrupt);
    interrupts++;
    leaf();
}

#define INTERPRET                                                                                  \
    static const void *const operations[] = {&&add, &&call, &&point, &&ask, &&repeat, &&stop};     \
    unsigned turns = 0;                                                                            \
    goto *operations[*at++];                                                                       \
    add:                                                                                           \
    sum += *at;                                                                                    \
    goto *operations[*at++];                                                                       \
    call:                                                                                          \
    branch();                                                                                      \
    goto *operations[*at++];                                                                       \
    point:                                                                                         \
    pointer();                                                                                     \
    goto *operations[*at++];                                                                       \
    ask:                                                                                           \
    k_interrupt_self();                                                                            \
    goto *operations[*at++];                                                                       \
    repeat:                                                                                        \
    if (++turns % 4)                                                                               \
        goto repeat;                                                                               \
    goto *operations[*at++];                                                                       \
    stop:

OWN static void interpret(const unsigned char *at)
{
    CALLED(interpret);
    INTERPRET
}

OWN __attribute__((optimize("align-labels=128"))) static void
interpret_aligned(const unsigned char *at)
{
    CALLED(interpret_aligned);
    INTERPRET
}

OWN void run(void)
{
    CALLED(run);
    unsigned expected;

    k_first_interrupt();
    expected = interrupts;
    for (unsigned i = 0; i < TURNS; i++) {
        pointer = i % 2 ? leaf : branch;
        interpret(program);
        interpret_aligned(program);
        expected += 2 * 4;
        if (interrupts != expected)
            k_panic("interrupts", interrupts);
    }
}
