/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setjmp and longjmp: over many frames, of recursive functions, nested, again and again. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf outer;
static int leaves;

__attribute__((noinline)) static void leaf(void)
{
    leaves++;
}

__attribute__((noinline)) static void sink(jmp_buf env, int depth)
{
    leaf();
    if (depth == 0)
        longjmp(env, 1);
    sink(env, depth - 1);
    leaf();
}

/* Each level sets its own; odd ones go on to the next further out. */
__attribute__((noinline)) static int levels(jmp_buf *out, int depth)
{
    jmp_buf here;
    if (depth == 0)
        longjmp(*out, 5);
    if (setjmp(here) == 0)
        levels(&here, depth - 1);
    else if (depth % 2)
        longjmp(*out, depth);
    leaf();
    return depth;
}

/* As a generator of errors does: one setjmp, many longjmps. */
__attribute__((noinline)) static int again(int times)
{
    sigjmp_buf env;
    volatile int n = 0;
    if (sigsetjmp(env, 0) < times) {
        leaf();
        n++;
        siglongjmp(env, n);
    }
    return n;
}

int main(void)
{
    volatile int rounds = 0;
    for (int depth = 0; depth < 40; depth += 13)
        if (setjmp(outer) == 0)
            sink(outer, depth);
        else
            rounds++;
    if (setjmp(outer) == 0)
        levels(&outer, 9);
    printf("%d %d %d\n", again(6), rounds, leaves);
    return 0;
}
