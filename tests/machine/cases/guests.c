/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that runs virtual machines for its programs, as KVM does: a program's system call enters
 * its guest, which goes on until it calls the hypervisor or an interrupt hits. Then the call of the
 * entry returns, with the guest's calls open, and the kernel may switch to another program, with a
 * guest of its own, before it enters the guest again. Guests have threads and traps of their own.
 *
 * defines: GUESTS
 * calls: 3000
 * handlers: 1
 * aarch64: -M virt,virtualization=on -cpu max
 * riscv64: -cpu rv64,h=true
 */
#include "guest.h"

enum { PROGRAMS = 3, TURNS = 30 };
enum { CALL_RUN, CALL_YIELD, CALL_TICK, CALL_EXIT };
enum { GUEST_WORK, GUEST_DONE };

static struct thread threads[PROGRAMS];
static char stacks[PROGRAMS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static char user_stacks[PROGRAMS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"u0", "u1", "u2"};

static struct guest guests[PROGRAMS];
static struct thread guest_threads[PROGRAMS][2];
static char guest_stacks[PROGRAMS][2][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const guest_names[] = {"g0", "g1", "g2"};
static const char *const other_names[] = {"h0", "h1", "h2"};
static volatile int is_over[PROGRAMS];
static word seeds[PROGRAMS];

/* ---- the guests ---------------------------------------------------------------------------- */

OWN static void guest_leaf(void)
{
    CALLED(guest_leaf);
    k_work(50);
}

OWN static void guest_call(word number)
{
    CALLED(guest_call);
    k_guest_call(number);
}

OWN void guest_system_call(void)
{
    CALLED(guest_system_call);
    guest_leaf();
    guest_call(GUEST_WORK);
    guest_leaf();
}

OWN void k_guest_trap(void)
{
    k_enter(vector_guest);
    guest_system_call();
    k_leave();
}

OWN static void guest_trap(void)
{
    CALLED(guest_trap);
    k_guest_trap_self();
}

OWN static void guest_switch(word self, word from)
{
    CALLED(guest_switch);
    k_enter(cpu_switch_to);
    cpu_switch_to(guest_threads[self][from].saved, guest_threads[self][!from].saved);
    k_leave();
}

OWN static void guest_walk(word self, word thread, word depth)
{
    CALLED(guest_walk);
    word die = k_random(&seeds[self]) % 8;

    guest_leaf();
    if (die < 2)
        guest_call(GUEST_WORK);
    if (die == 2)
        guest_trap();
    if (die == 3)
        guest_switch(self, thread);
    for (word n = k_random(&seeds[self]) % 3; depth > 0 && n > 0; n--)
        guest_walk(self, thread, depth - 1);
}

OWN static void guest_other(word self)
{
    CALLED(guest_other);
    for (;;) {
        guest_walk(self, 1, 3);
        guest_switch(self, 1);
    }
}

OWN static void guest_main(word self)
{
    CALLED(guest_main);
    for (unsigned i = 0; i < TURNS; i++) {
        guest_walk(self, 0, 5);
        k_work(2000);
    }
    is_over[self] = 1;
    guest_call(GUEST_DONE);
}

/* Where a guest begins: nobody calls this. */
OWN static void k_guest_begin(word self)
{
    k_guest_prepare();
    guest_main(self);
}

/* ---- the kernel ---------------------------------------------------------------------------- */

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

OWN static void handle_call(word n)
{
    CALLED(handle_call);
    kernel_work(n);
}

OWN static void let_interrupts(void)
{
    CALLED(let_interrupts);
    k_interrupts_on();
    k_work(10);
    k_interrupts_off();
}

/* Up to some exits, then back to the program. */
OWN static word run_guest(word self)
{
    CALLED(run_guest);
    for (unsigned i = 0; i < 4 && !is_over[self]; i++) {
        if (k_guest_enter(&guests[self]))
            let_interrupts();
        else
            handle_call(i);
        if (i == 2)
            schedule();
    }
    return !is_over[self];
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
    switch (FRAME_NUMBER(f)) {
    case CALL_RUN:
        FRAME_NUMBER(f) = run_guest(FRAME_ARG(f));
        break;
    case CALL_YIELD:
        schedule();
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
}

OWN static word user_call(word number, word argument)
{
    CALLED(user_call);
    return k_system_call(number, argument);
}

/* A tick that has been: none is due then. */
OWN static void user_wait(void)
{
    CALLED(user_wait);
    unsigned before = ticks;

    user_call(CALL_TICK, 50000);
    while (ticks == before)
        ;
}

OWN static void user_main(word self)
{
    CALLED(user_main);
    word more = 1;

    if (ticks == 0)
        user_wait();
    for (unsigned i = 0; more; i++) {
        if (i % 3 == 0)
            user_call(CALL_TICK, 20);
        more = user_call(CALL_RUN, self);
        if (i % 2)
            user_call(CALL_YIELD, 0);
    }
    user_wait();
    user_call(CALL_EXIT, 0);
}

/* Where a program begins: nobody calls this. */
OWN static void k_program(word self)
{
    user_main(self);
}

INLINE void make_guest(word i)
{
    char *stack = guest_stacks[i][0], *other = guest_stacks[i][1];

    seeds[i] = i;
    guest_threads[i][0].log = k_log_new(guest_names[i], stack);
    guest_threads[i][1].log = k_log_new(other_names[i], other);
    k_guest_init(&guests[i], i, (word)k_guest_begin, (word)stack + STACK_SIZE, i);
    k_thread_prepare(guest_threads[i][1].saved, other + STACK_SIZE, (word)guest_other, i,
                     (word)k_thread_start);
}

OWN void run(void)
{
    CALLED(run);
    k_interrupts_off();
    for (unsigned i = 0; i < PROGRAMS; i++) {
        make_guest(i);
        k_thread_make_user(&threads[i], names[i], stacks[i], user_stacks[i], k_program, i);
    }
    schedule();
}
