/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole machines: handlers and contexts.
 *
 * A handler (of an interrupt, an exception or a system call) is a frame on the stack that it
 * interrupted. It ends at the exception return, which restores the last exit: a call that was
 * interrupted on its way arrives after all. An exception return that ends no handler begins
 * something: the first program of a level or of a thread.
 *
 * A context is the call stack of a guest's thread, whatever vCPU it runs on. The guest switches
 * contexts by loading the stack pointer. The context that continues is identified by the word in
 * memory that the stack pointer was loaded from, if that of a suspended context was stored there
 * (gt_track_saved, gt_track_restored), or by its value, where the host can read that: a thread
 * continues with the stack pointer it was suspended with. A value that no context had need not be a
 * thread: the guest sets up stacks for interrupts and boot stages in the same way. A thread has
 * begun only when that frame returns, by a return or an exception return, to where no frame is, and
 * only if the context before has stored its stack pointer and so can be resumed. If that one has
 * also pushed the address where it resumes, the new thread has begun at once. Where stack pointers
 * go from register to register, a thread begins with a function: at its entry, on another stack.
 *
 * Where neither the word nor the value is known (QEMU 7.2, from register to register), the context
 * is one that returns there; if there are several, that is counted.
 *
 * When a context is suspended with the stack pointer that another suspended one has, the other has
 * ended. So has a context that was resumed by its word in memory and does not return to its caller.
 */
#ifndef GT_TRACK_MACHINE_H
#define GT_TRACK_MACHINE_H

#include "track/track.h"

/* The number of newest system calls at least whose callers are known, for processes that they make.
 */
enum { GT_TRACK_FORK_SNAPSHOTS = 16 };

/* A handler begins at addr, in fn, and interrupts `last_exit`. `vector`: its first block, where
 * that was concluded; NULL: the host reported the handler. */
void gt_machine_enter(struct gt_track_thread *t, uint64_t addr, const struct gt_track_func *fn,
                      struct gt_code *vector, uint64_t last_exit, uint64_t time);

/* An exception return is about to run. True: it ends a handler, and *last_exit is the one that the
 * handler interrupted. False: the transfer that follows, from a block of GT_EXIT_EXCEPTION_RETURN,
 * decides. */
bool gt_machine_leave(struct gt_track_thread *t, uint64_t *last_exit, uint64_t time);

/* The stack pointer was stored in the word at `addr`, by code that had pushed `resumes`: if not 0,
 * the context will continue there. */
void gt_machine_saved(struct gt_track_thread *t, uint64_t addr, uint64_t resumes);

/* The stack pointer is about to be loaded while another register has it. */
void gt_machine_kept(struct gt_track_thread *t);

/* The stack pointer was loaded: it was old_sp, it is new_sp; GT_NO_ADDR: not known. */
void gt_machine_switch(struct gt_track_thread *t, uint64_t old_sp, uint64_t new_sp, uint64_t time);

/* True where a return may arrive at pc: an open frame returns there, or a thread may begin there.
 */
bool gt_machine_returns(const struct gt_track_thread *t, uint64_t pc);

/* ---- for resolve.c ------------------------------------------------------------------------- */

/* True where the context has pushed pc as the address to continue at; a return has arrived there.
 */
bool gt_machine_resumes(const struct gt_track_thread *t, uint64_t pc);
/* The context has continued there. */
void gt_machine_resumed(struct gt_track_thread *t);
/* True where a return to code that is nowhere on the stack, or an exception return out of a
 * handler, begins a context. */
bool gt_machine_may_begin(const struct gt_track_thread *t);
/* True where a return to the code, or a jump that may be one, begins a context: the code is a
 * function's entry, no open frame returns there, and the stack is another one. */
bool gt_machine_begins_by_hand(const struct gt_track_thread *t, const struct gt_code *code);
/* True where the top frame has loaded the stack pointer, and may have left the context: that can be
 * resumed. */
static inline bool gt_machine_may_be_left(const struct gt_stack *s)
{
    return s->top->flags & GT_FRAME_SP_LOADED &&
           s->top->flags & (GT_FRAME_SP_STORED | GT_FRAME_SP_KEPT);
}
/* The same where neither the word that it was loaded from nor its value is known. */
static inline bool gt_machine_left_unread(const struct gt_track_thread *t)
{
    const struct gt_stack *s = t->stack;
    return t->tracker->machine && gt_machine_may_be_left(s) &&
           !(s->top->flags & GT_FRAME_SP_RELOADED) && s->sp_before_load == GT_NO_ADDR;
}
/* Another context is about to continue there. */
void gt_machine_left(struct gt_track_thread *t);
/* A context begins at the code. False: no memory. */
bool gt_machine_begin(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* True: this was the transfer of a longjmp. The top frame has loaded a stack pointer that the same
 * context had stored, and the code is where the storing function had returned to; the calls made
 * since then are closed. */
bool gt_machine_longjmp(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* True where the top frame has loaded the stack pointer and stayed on the context's own stack. */
bool gt_machine_sp_reloaded(const struct gt_track_thread *t);
/* Control came to the code out of a block that ends in a system call or an exception return. */
void gt_machine_resolve(struct gt_track_thread *t, const struct gt_code *from, struct gt_code *code,
                        uint64_t time);
/* Forgets handlers whose frames are deeper: they were left without an exception return. */
void gt_machine_forget(struct gt_track_thread *t, uint32_t depth);
/* True in a machine where both addresses have the same offset in their pages, whose blocks QEMU may
 * share. */
bool gt_machine_is_alias(const struct gt_track_thread *t, uint64_t a, uint64_t b);
/* True where the block of the last exit did not run to its end and continues at `code`, in its
 * middle: a host that counts instructions splits blocks where they access devices. */
bool gt_machine_is_split(const struct gt_track_thread *t, uint64_t last_exit,
                         const struct gt_code *code);
/* True where the return that has just arrived is a retpoline's, by the distance of the call: code
 * calls over a trap of a few bytes, replaces the return address by the true target, and returns.
 * arm64 kernels reach their vectors that way. The target replaces the frame that jumped or was
 * called there. Handlers of x86 are known by what they store: enum gt_track_arrival. */
bool gt_machine_is_retpoline(const struct gt_track_thread *t);
/* A kernel begins at low addresses and continues at high ones with the same translated blocks: a
 * block that is reached from high code has its high address from then on. */
void gt_machine_move_up(const struct gt_track_thread *t, struct gt_code *code, uint64_t last_exit);
/* The depth of the innermost handler's frame; 0: no handler is open. */
uint32_t gt_machine_floor(const struct gt_stack *s);

#endif
