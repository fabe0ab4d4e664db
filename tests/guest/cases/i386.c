/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit guest, without any library: calls by every convention, a tail call, recursion, a signal
 * handler (rt_sigreturn and the older sigreturn).
 *
 * arches: i386
 * exit: 9
 * flags: -m32 -nostdlib -static -ffreestanding -fno-stack-protector -fno-pie -no-pie
 * flags: -fcf-protection=none -O2 -foptimize-sibling-calls
 * stats: count.signals=2
 */
#include "guest.h"

static inline __attribute__((always_inline)) int call(int number, int a, int b, int c, int d)
{
    int result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
                     : "memory");
    return result;
}

F static void leaf(void)
{
    WORK();
}

F static int down(int n)
{
    return n ? down(n - 1) + WORK() : WORK();
}

F static void on_signal(int sig)
{
    (void)sig;
    leaf();
    WORK();
}

F __attribute__((stdcall)) static int callee_pops(int a, int b, int c)
{
    return a + b + c + WORK();
}

F __attribute__((regparm(3))) static int in_registers(int a, int b, int c)
{
    return callee_pops(a, b, c) + 1;
}

F static int tail(int n)
{
    WORK();
    return down(n);
}

static void (*volatile pointer)(void) = leaf;

struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask[2];
};

void restore_rt(void);
__asm__(".text\nrestore_rt:\n\tmovl $173, %eax\n\tint $0x80");

F static void handle(int sig, unsigned long flags)
{
    struct action act = {on_signal, flags, restore_rt, {0, 0}};
    call(174, sig, (int)&act, 0, 8);
}

F static void body(void)
{
    in_registers(1, 2, 3);
    tail(2);
    pointer();
    handle(10, 0);
    handle(12, 0x04000004); /* SA_RESTORER, SA_SIGINFO: rt_sigreturn */
    call(37, call(20, 0, 0, 0, 0), 10, 0, 0);
    call(37, call(20, 0, 0, 0, 0), 12, 0, 0);
    leaf();
    WORK();
}

void _start(void);

void _start(void)
{
    body();
    call(252, 9, 0, 0, 0);
    __builtin_unreachable();
}

/* calls:
_start
  body
    in_registers
      callee_pops
    tail
    down
      down
        down
    leaf
    handle
    handle
    on_signal
      leaf
    on_signal
      leaf
    leaf
 */
