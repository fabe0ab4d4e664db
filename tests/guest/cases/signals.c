/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal handlers: raised, sent by kill, nested with another signal, nested with the same one
 * (SA_NODEFER), on a stack of their own; one that calls functions; one that the program calls, too;
 * one that is left by siglongjmp; a fault's handler that jumps out.
 *
 * stats: count.signals=10
 */
#include "guest.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf env;
static volatile int level;

F static void leaf(void)
{
    WORK();
}

F static void on_usr1(int sig)
{
    (void)sig;
    leaf();
}

F static void on_usr2(int sig)
{
    (void)sig;
    WORK();
    raise(SIGUSR1);
    leaf();
}

F static void on_nested(int sig)
{
    (void)sig;
    if (++level < 3)
        raise(SIGWINCH);
    leaf();
}

F static void on_jump(int sig)
{
    (void)sig;
    leaf();
    siglongjmp(env, 1);
}

F static void handle(int sig, void (*handler)(int), int flags)
{
    struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};
    sigaction(sig, &sa, NULL);
}

F static void jump_out(void)
{
    if (sigsetjmp(env, 1) == 0)
        raise(SIGTERM);
    leaf();
}

F static void faulty(int *volatile p)
{
    *p = WORK();
}

F static void fault(void)
{
    if (sigsetjmp(env, 1) == 0)
        faulty(NULL);
    leaf();
}

int main(void)
{
    stack_t alt = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&alt, NULL);
    handle(SIGUSR1, on_usr1, 0);
    handle(SIGUSR2, on_usr2, 0);
    handle(SIGWINCH, on_nested, SA_NODEFER);
    handle(SIGTERM, on_jump, 0);
    handle(SIGSEGV, on_jump, SA_ONSTACK);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    raise(SIGUSR2);
    raise(SIGWINCH);
    jump_out();
    fault();
    on_usr1(0);
    handle(SIGUSR1, on_usr1, SA_ONSTACK);
    raise(SIGUSR1);
    leaf();
    return 0;
}

/* calls:
main
  handle
  handle
  handle
  handle
  handle
  on_usr1
    leaf
  on_usr1
    leaf
  on_usr2
    on_usr1
      leaf
    leaf
  on_nested
    on_nested
      on_nested
        leaf
      leaf
    leaf
  jump_out
    on_jump
      leaf
    leaf
  fault
    faulty
      on_jump
        leaf
    leaf
  on_usr1
    leaf
  handle
  on_usr1
    leaf
  leaf
 */
