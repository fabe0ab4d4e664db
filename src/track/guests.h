/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual machines in the machine.
 *
 * A hypervisor calls the code that enters a guest, and that call returns when the guest is left: by
 * a return out of the handler that the guest was left to (aarch64, riscv64), or at the instruction
 * after the one that entered it (x86). The guest's calls are on stacks of their own, which continue
 * when it is entered again. What interrupts a guest, for its own kernel or for the hypervisor, is a
 * handler on the guest's stack; where the hypervisor's returns into the call of the entry, it ends
 * there.
 *
 * Stacks of a virtual machine are in a space of their own, struct gt_stack.vm: its stack pointers
 * and the words that it stores them in differ from the hypervisor's and another virtual machine's
 * at the same addresses.
 */
#ifndef GT_TRACK_GUESTS_H
#define GT_TRACK_GUESTS_H

#include "track/track.h"

struct gt_track_guest_id {
    uint64_t vm,
        vcpu; /* vm 0: not known; a guest is then known by the stack that it is entered from */
    uint64_t after; /* x86: where the hypervisor continues; 0: by a return */
};

/* A vCPU of a virtual machine. Lives as long as the tracker, but may become another one. */
struct gt_track_guest_vcpu {
    uint64_t vm, vcpu;
    uint64_t after;                    /* of gt_track_guest_id */
    struct gt_stack *stack;            /* that it was left on; NULL: it runs, or has not begun */
    uint64_t last_exit;                /* when it was left */
    struct gt_stack *host;             /* while it runs: that it was entered from */
    struct gt_track_guest_vcpu *outer; /* while it runs: the one that has entered it */
    struct gt_track_guest_vcpu *next;
};

/* The thread is about to enter the guest. Returns the last exit that it continues with; 0: no
 * memory, nothing has changed. */
uint64_t gt_track_guest_enter(struct gt_track_thread *t, const struct gt_track_guest_id *id,
                              uint64_t time);
/* True where the exception return that would enter this guest ends a handler that has interrupted
 * it, or where guests that were entered from such a handler have ended. */
bool gt_track_guest_goes_on(struct gt_track_thread *t, const struct gt_track_guest_id *id,
                            uint64_t time);
/* The thread is about to continue in the hypervisor, without a return into the entry's call: guests
 * are left. */
void gt_track_guest_leave_all(struct gt_track_thread *t, uint64_t time);
/* True: the thread's guest ends where the hypervisor continues, at pc; it is left. */
bool gt_track_guest_ends_at(struct gt_track_thread *t, uint64_t pc, uint64_t last_exit,
                            uint64_t time);

/* Where registers are not read: the thread's code writes one that a hypervisor sets for its guest;
 * true where that has been so since the same handler began. */
void gt_track_guest_prepare(struct gt_track_thread *t);
bool gt_track_guest_is_prepared(const struct gt_track_thread *t);
/* True where the thread's code has been called since its innermost handler began. */
bool gt_track_guest_may_be_entered(const struct gt_track_thread *t);

/* ---- for the rest of track/ ---------------------------------------------------------------- */

/* The space of stacks that the thread is in. */
uint64_t gt_track_guest_vm(const struct gt_track_thread *t);
/* An address of a word in memory, distinguished from the same one of other spaces. */
uint64_t gt_track_guest_word(const struct gt_track_thread *t, uint64_t addr);
/* True where a return out of a handler arrives at pc, in the caller of what entered the guest. */
bool gt_track_guest_returns(const struct gt_track_thread *t, uint64_t pc);
/* The guest is left, and with it the handler that it was left to: its stack is suspended, and the
 * thread continues on that which it was entered from. */
void gt_track_guest_leave_handler(struct gt_track_thread *t, uint64_t time);
/* True for the last exit that a guest is entered with whose first function begins. */
bool gt_track_guest_begins(uint64_t last_exit);
uint64_t gt_track_guest_beginning(void);
/* The thread runs its guest no longer, but what had entered that. Returns the stack that it was
 * entered from, which no thread runs now. With the tracker's lock. */
struct gt_stack *gt_track_guest_drop(struct gt_track_thread *t);
/* The stack has ended, is freed, or is continued otherwise. With the tracker's lock. */
void gt_track_guests_forget(struct gt_track *k, const struct gt_stack *s);
/* The thread is not followed any further: what its guests were entered from ends; stays open, and
 * is suspended. */
void gt_track_guests_end(struct gt_track_thread *t, uint64_t time);
void gt_track_guests_release(struct gt_track_thread *t);
void gt_track_guests_free(struct gt_track *k);

#endif
