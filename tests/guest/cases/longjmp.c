/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * longjmp: across no, one and many frames; to an outer frame of a recursion, through frames of the
 * same function that called setjmp, too; twice to one setjmp; out of a callback of the C library
 * (qsort); _setjmp and sigsetjmp.
 *
 * stats: anomaly.guessed-frame=0
 */
#include "guest.h"

#include <setjmp.h>
#include <stdlib.h>

static jmp_buf env, envs[5];
static sigjmp_buf sigenv;

F static void leaf(void)
{
    WORK();
}

F static void thrower(int n)
{
    WORK();
    if (n == 0)
        longjmp(env, 1);
    thrower(n - 1);
}

F static void one_frame(void)
{
    if (setjmp(env) == 0)
        thrower(0);
    leaf();
}

F static void many_frames(void)
{
    volatile int times = 0;
    if (setjmp(env) < 9 && times++ < 2)
        thrower(3);
    leaf();
}

/* Each level sets its own; the innermost jumps to the given one. */
F static void levels(int n, int to)
{
    if (setjmp(envs[n])) {
        leaf();
        return;
    }
    if (n == 4)
        longjmp(envs[to], 1);
    levels(n + 1, to);
    WORK();
}

F static int compare(const void *a, const void *b)
{
    (void)a, (void)b;
    WORK();
    longjmp(env, 1);
}

F static void from_qsort(void)
{
    int numbers[] = {2, 1};
    if (_setjmp(env) == 0)
        qsort(numbers, 2, sizeof *numbers, compare);
    leaf();
}

F static void with_sigmask(void)
{
    if (sigsetjmp(sigenv, 1) == 0) {
        WORK();
        siglongjmp(sigenv, 1);
    }
    leaf();
}

int main(void)
{
    one_frame();
    many_frames();
    levels(0, 1);
    levels(0, 4);
    from_qsort();
    with_sigmask();
    leaf();
    return 0;
}

/* calls:
main
  one_frame
    thrower
    leaf
  many_frames
    thrower
      thrower
        thrower
          thrower
    thrower
      thrower
        thrower
          thrower
    leaf
  levels
    levels
      levels
        levels
          levels
      leaf
  levels
    levels
      levels
        levels
          levels
            leaf
  from_qsort
    compare
    leaf
  with_sigmask
    leaf
  leaf
 */
