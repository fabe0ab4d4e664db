/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs in user mode, each with a stack of its own there and one in the kernel. They make system
 * calls at some depth, which may switch to another program; get a signal, that is return from the
 * kernel to another place, which then returns to where they were through the kernel, or to the
 * next signal; and are interrupted by the timer, which switches too. The last ends the machine.
 *
 * calls: 3000
 * handlers: 10
 */
#include "kernel.h"

enum { PROGRAMS = 3, TURNS = 20 };
enum { CALL_WORK, CALL_YIELD, CALL_SIGNAL, CALL_SIGNAL_RETURN, CALL_TICK, CALL_EXIT };

static struct thread threads[PROGRAMS];
static char stacks[PROGRAMS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static char user_stacks[PROGRAMS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"u0", "u1", "u2"};
static struct frame interrupted[PROGRAMS];
static word pending[PROGRAMS]; /* signals */

OWN static void kernel_leaf(void)
{
    CALLED(kernel_leaf);
}

OWN static void kernel_work(word n)
{
    CALLED(kernel_work);
    kernel_leaf();
    if (n > 0)
        kernel_work(n - 1);
}

/* Where a signal, with its number, arrives in user mode; is no call, so the handler that it calls
 * is in its place. */
OWN static void signal_handler(word n)
{
    CALLED(signal_handler);
    if (n > 1)
        signal_handler(n - 1);
    k_system_call(CALL_WORK, 1);
}

OWN static void k_signal(word n)
{
    signal_handler(n);
    k_system_call(CALL_SIGNAL_RETURN, 0);
}

INLINE void copy(struct frame *to, const struct frame *from)
{
    for (unsigned i = 0; i < sizeof *to / sizeof(word); i++)
        ((volatile word *)to)[i] = ((const volatile word *)from)[i];
}

static void k_signalled(struct frame *f, const struct frame *old, word n)
{
    k_frame_prepare_user(f, (k_frame_user_sp((struct frame *)old) - 512) & ~15ul, (word)k_signal,
                         n);
}

OWN static void send_signal(struct frame *f, struct frame *old)
{
    CALLED(send_signal);
    pending[old - interrupted] = FRAME_ARG(f) - 1;
    copy(old, f);
    k_signalled(f, old, FRAME_ARG(f));
}

OWN static void signal_return(struct frame *f, struct frame *old)
{
    CALLED(signal_return);
    if (pending[old - interrupted] > 0)
        k_signalled(f, old, pending[old - interrupted]--);
    else
        copy(f, old);
}

OWN static void end(void)
{
    CALLED(end);
    if (k_alive > 1)
        thread_exit();
    k_finish();
}

OWN void system_call(struct frame *f)
{
    CALLED(system_call);
    struct frame *old = &interrupted[k_current[0] - threads];

    switch (FRAME_NUMBER(f)) {
    case CALL_WORK:
        kernel_work(FRAME_ARG(f));
        break;
    case CALL_YIELD:
        schedule();
        break;
    case CALL_SIGNAL:
        send_signal(f, old);
        break;
    case CALL_SIGNAL_RETURN:
        signal_return(f, old);
        break;
    case CALL_TICK:
        k_tick_after(FRAME_ARG(f));
        break;
    default:
        end();
    }
}

static volatile unsigned ticks;

OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
    kernel_work(1);
    ticks++;
    schedule();
}

OWN static void user_call(word number, word argument)
{
    CALLED(user_call);
    k_system_call(number, argument);
}

#ifdef __x86_64__
OWN static void user_interrupt(word number, word argument)
{
    CALLED(user_interrupt);
    k_interrupt_call(number, argument);
}
#else
#define user_interrupt user_call
#endif

OWN static void user_leaf(void)
{
    CALLED(user_leaf);
    k_work(20);
}

OWN static void user_walk(word depth, word *seed)
{
    CALLED(user_walk);
    word die = k_random(seed) % 8;

    user_leaf();
    if (die == 0)
        user_call(CALL_YIELD, 0);
    if (die == 1)
        user_interrupt(CALL_YIELD, 0);
    if (die == 2)
        user_call(CALL_SIGNAL, 1 + k_random(seed) % 3);
    if (die == 3)
        user_interrupt(CALL_SIGNAL, 1);
    if (die >= 6)
        user_call(CALL_WORK, die - 6);
    for (word n = k_random(seed) % 3; depth > 0 && n > 0; n--)
        user_walk(depth - 1, seed);
}

/* The first tick of all hits where no system call has just ended: long after it, as a busy host
 * may let this machine wait. */
OWN static void user_warm_up(void)
{
    CALLED(user_warm_up);
    unsigned before = ticks;

    user_call(CALL_TICK, 50000);
    while (ticks == before)
        ;
}

OWN static void user_ticks(word *seed)
{
    CALLED(user_ticks);
    unsigned before = ticks;

    user_call(CALL_TICK, 5 + k_random(seed) % 4);
    for (unsigned i = 0; ticks == before; i++)
        if (i < 5)
            user_walk(3, seed);
}

OWN static void user_main(word self)
{
    CALLED(user_main);
    word seed = self;

    if (ticks == 0)
        user_warm_up();
    for (unsigned i = 0; i < TURNS; i++)
        user_walk(4, &seed);
    for (unsigned i = 0; i < TURNS; i++)
        user_ticks(&seed);
    user_call(CALL_EXIT, 0);
}

/* Where a program begins: nobody calls this. */
OWN static void k_program(word self)
{
    user_main(self);
}

OWN void run(void)
{
    CALLED(run);
    k_interrupts_off();
    for (unsigned i = 0; i < PROGRAMS; i++)
        k_thread_make_user(&threads[i], names[i], stacks[i], user_stacks[i], k_program, i);
    schedule();
}
