/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where each vCPU goes after start_ARCH.S, and where its traps arrive. */
#include "kernel.h"

struct thread *k_current[CPUS];
char k_emergency_stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static struct thread boot_threads[CPUS];
static const char *const names[CPUS] = {"boot0", "boot1", "boot2", "boot3"};

struct thread *k_boot_thread(word cpu)
{
    return &boot_threads[cpu];
}

__attribute__((weak)) OWN void run_other(word cpu)
{
    (void)cpu;
    CALLED(run_other);
}

__attribute__((weak)) OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
}

__attribute__((weak)) OWN void soft_interrupt(struct frame *f)
{
    (void)f;
    CALLED(soft_interrupt);
}

__attribute__((weak)) OWN void system_call(struct frame *f)
{
    k_panic("system call at", FRAME_PC(f));
}

__attribute__((weak)) OWN void k_fault(struct frame *f)
{
    k_panic("fault at", FRAME_PC(f));
}

OWN void k_main(word cpu)
{
    struct thread *t = &boot_threads[cpu];

    t->stack = k_boot_stacks + cpu * STACK_SIZE;
    t->log = k_log_new(names[cpu], t->stack);
    t->is_alive = t->is_running = 1;
    k_current[cpu] = t;
    k_init(cpu);
    if (cpu > 0) {
        run_other(cpu);
        return;
    }
    run();
    k_finish();
}

__attribute__((weak)) OWN void k_before_trap(struct frame *f)
{
    (void)f;
}

/* Vector is what the log and the recording call the handler. Only an RTOS comes back with a dead
 * thread: its trap is never left. */
OWN void k_trap(struct frame *f, const void *vector)
{
    struct thread *t = k_current[k_cpu()];
    struct log *l = k_log();
    enum trap kind = k_trap_kind(f, vector);

    l->level += kind == TRAP_TICK;
    k_before_trap(f);
    k_enter(vector);
    switch (kind) {
    case TRAP_TICK:
        async_tick(f);
        break;
    case TRAP_SOFT:
        soft_interrupt(f);
        break;
    case TRAP_CALL:
        system_call(f);
        break;
    case TRAP_FAULT:
        k_fault(f);
        break;
    }
    if (t->is_alive)
        k_leave();
    l->level -= kind == TRAP_TICK;
}
