/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coroutines by swapcontext: two that take turns and yield from some depth, both running the same
 * functions; one that starts another; one that ends through uc_link; the ucontext of an ended one
 * made into a new coroutine. Each is a task of its own; an ended one's task is used again.
 *
 * again: tail-calls=off
 * stats: tasks=3 count.switched=22
 */
#include "guest.h"

#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 65536 };

static ucontext_t main_context, context[3];

F static void leaf(void)
{
    WORK();
}

F static void yield_to_main(int self)
{
    swapcontext(&context[self], &main_context);
}

F static void deep(int self, int n)
{
    if (n)
        deep(self, n - 1);
    else
        yield_to_main(self);
    leaf();
}

F static void turns(int self)
{
    deep(self, 1);
    leaf();
    deep(self, 2);
}

F static void inner(int self)
{
    leaf();
    yield_to_main(self);
    leaf();
}

F static void outer(int self)
{
    leaf();
    swapcontext(&context[self], &context[2]);
    leaf();
}

F static void begin(int i, void (*fn)(int), ucontext_t *then)
{
    static char *stacks[3];
    getcontext(&context[i]);
    if (!stacks[i])
        stacks[i] = malloc(STACK);
    context[i].uc_stack.ss_sp = stacks[i];
    context[i].uc_stack.ss_size = STACK;
    context[i].uc_link = then;
    makecontext(&context[i], (void (*)(void))fn, 1, i);
}

F static void resume(int i)
{
    swapcontext(&main_context, &context[i]);
}

F static void alternate(void)
{
    begin(0, turns, &main_context);
    begin(1, turns, &main_context);
    for (int i = 0; i < 3; i++) {
        resume(0);
        resume(1);
    }
}

/* 0 starts 2, which yields here; resumed, 2 ends and by its link goes on with 0. */
F static void nested(void)
{
    begin(0, outer, &main_context);
    begin(2, inner, &context[0]);
    resume(0);
    leaf();
    resume(2);
}

int main(void)
{
    alternate();
    nested();
    begin(1, inner, &main_context);
    resume(1);
    resume(1);
    leaf();
    return 0;
}

/* calls:
main
  alternate
    begin
    begin
    resume
    resume
    resume
    resume
    resume
    resume
  nested
    begin
    begin
    resume
    leaf
    resume
  begin
  resume
  resume
  leaf
--
turns
  deep
    deep
      yield_to_main
      leaf
    leaf
  leaf
  deep
    deep
      deep
        yield_to_main
        leaf
      leaf
    leaf
inner
  leaf
  yield_to_main
  leaf
--
turns
  deep
    deep
      yield_to_main
      leaf
    leaf
  leaf
  deep
    deep
      deep
        yield_to_main
        leaf
      leaf
    leaf
outer
  leaf
  leaf
inner
  leaf
  yield_to_main
  leaf
 */
