/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole machines: handlers and contexts.
 *
 * A handler (of an interrupt, an exception or a system call) is a frame on the stack of what it
 * interrupted. It ends at the exception return, and then the last exit is again what it was: a call
 * that was on its way arrives after all. An exception return that ends no handler begins something:
 * the first program of a level or of a thread.
 *
 * A context is the call stack of a guest's thread, whatever vCPU it runs on. The guest goes from
 * one to another by loading the stack pointer. Which one goes on is known by the word in memory
 * that it was loaded from, if the stack pointer of a suspended context was stored there
 * (gt_track_saved, gt_track_restored), or by its value, where the host can tell that: a thread goes
 * on with the stack pointer it was suspended with. A value that is known from nowhere need be no
 * thread: stacks for interrupts, and stages of a boot, are taken that way too. Only a return or an
 * exception return from the same frame that goes where no frame is shows that a thread has begun;
 * and only if the one before is to go on: it has stored its stack pointer. Where it has also said
 * where it is to go on, by pushing that address, a thread has begun at once.
 *
 * A context of the same stack pointer as one that is suspended now has taken that one's place: the
 * other ended. So has one that was taken up by its word in memory, and does not return to where it
 * was called from.
 */
#ifndef GT_TRACK_MACHINE_H
#define GT_TRACK_MACHINE_H

#include "track/track.h"

/* Of so many system calls at least is known what had called them, for the processes that they make.
 */
enum { GT_TRACK_FORK_SNAPSHOTS = 16 };

/* A handler begins at addr, in fn, while the last exit is `last_exit`. `vector`: its first block,
 * where the tracker concluded that; NULL: the host told. */
void gt_machine_enter(struct gt_thread *t, uint64_t addr, const struct gt_func *fn,
                      struct gt_code *vector, uint64_t last_exit, uint64_t time);

/* An exception return is about to run. True: it ends a handler, and *last_exit is what that had
 * interrupted. False: where it lands will tell (a transfer from a block of
 * GT_EXIT_EXCEPTION_RETURN). */
bool gt_machine_leave(struct gt_thread *t, uint64_t *last_exit, uint64_t time);

/* The stack pointer was stored in the word at the address, by code that had pushed `resumes`: the
 * context is to go on there, if that is no 0. */
void gt_machine_saved(struct gt_thread *t, uint64_t addr, uint64_t resumes);

/* The stack pointer was loaded: it was old_sp, it is new_sp; GT_NO_ADDR: not known. */
void gt_machine_switch(struct gt_thread *t, uint64_t old_sp, uint64_t new_sp, uint64_t time);

/* True where a return may come to pc: a frame waits for it, or a thread may begin there. */
bool gt_machine_returns(const struct gt_thread *t, uint64_t pc);

/* ---- for resolve.c ------------------------------------------------------------------------- */

/* True where the context has pushed that address to go on at, and a return comes to it. */
bool gt_machine_resumes(const struct gt_thread *t, uint64_t pc);
/* It went on there. */
void gt_machine_resumed(struct gt_thread *t);
/* True where a return to code that is nowhere on the stack, or an exception return out of a
 * handler, begins a context. */
bool gt_machine_may_begin(const struct gt_thread *t);
/* A context begins at the code. False: no memory. */
bool gt_machine_begin(struct gt_thread *t, const struct gt_code *code, uint64_t time);
/* True: a longjmp has landed. The top frame has loaded a stack pointer that the same context had
 * stored, and the code is where that function came back to; what was called since is closed. */
bool gt_machine_longjmp(struct gt_thread *t, const struct gt_code *code, uint64_t time);
/* The top frame has loaded the stack pointer, and it is on the context's own stack as before. */
bool gt_machine_sp_reloaded(const struct gt_thread *t);
/* Control came to the code out of a block that ends in a system call or an exception return. */
void gt_machine_resolve(struct gt_thread *t, const struct gt_code *from, struct gt_code *code,
                        uint64_t time);
/* Handlers whose frames are deeper have been left by another way. */
void gt_machine_forget(struct gt_thread *t, uint32_t depth);
/* In a machine: one of the addresses is the other's, but for the page that it was first seen at. */
bool gt_machine_is_alias(const struct gt_thread *t, uint64_t a, uint64_t b);
/* The block was left before one of its instructions and goes on there, without having come to its
 * end: a host that counts instructions does so where they access devices. */
bool gt_machine_is_split(const struct gt_thread *t, uint64_t last_exit, const struct gt_code *code);
/* x86 kernels jump and call through retpolines: one calls over a trap of a few bytes, puts the true
 * target in the place of that return address, and returns; arm64's go so to their vectors. What
 * jumped or was called there gives way to the target. Without symbols this is known by the
 * distance. True: the return that has just landed is one. */
bool gt_machine_is_retpoline(const struct gt_thread *t);
/* A kernel begins at low addresses and goes on at high ones, with blocks that were translated
 * there: one that is reached from high code is known by its high address from then on. */
void gt_machine_move_up(const struct gt_thread *t, struct gt_code *code, uint64_t last_exit);
/* The depth of the innermost handler's frame; 0: there is none. */
uint32_t gt_machine_floor(const struct gt_stack *s);

#endif
