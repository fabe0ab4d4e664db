/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to track/: what happens to one call stack, and to the list of them. */
#ifndef GT_TRACK_STACK_H
#define GT_TRACK_STACK_H

#include "track/track.h"

/* Pushes and records; counts GT_ANOMALY_TOO_DEEP where the stack may not grow. */
void gt_stack_push(struct gt_thread *t, struct gt_frame frame, uint64_t time);
/* Pops and records until `depth` frames are left. */
void gt_stack_close(struct gt_tracker *k, struct gt_stack *s, uint32_t depth, uint64_t time);
/* Another function goes on in the top frame's place. */
void gt_stack_replace(struct gt_thread *t, const struct gt_code *code, uint64_t time);
/* Records all open frames as entered. */
void gt_stack_enter_again(struct gt_tracker *k, struct gt_stack *s, uint64_t time);
/* Code of that level runs on it. */
void gt_stack_set_level(struct gt_stack *s, unsigned level);
/* The depth of the innermost frame that returns to pc (1 is the outermost); 0: none does. */
uint32_t gt_stack_find_return(const struct gt_stack *s, uint64_t pc);
/* The innermost frame whose function contains the block, as a depth; 0: none. *candidates: how many
 * frames are of that function, entered at that address. */
uint32_t gt_stack_find_function(const struct gt_stack *s, const struct gt_code *code,
                                unsigned *candidates);
/* Forgets signal handlers whose frames, on the thread's stack, are deeper. */
void gt_stack_forget_signals(struct gt_thread *t, uint32_t depth);

/* Empty, and nobody's, in the tracker's list. NULL without memory. */
struct gt_stack *gt_stack_create(struct gt_tracker *k);
/* Takes it out of the tracker's list. With the tracker's lock. */
void gt_stack_unlink(struct gt_tracker *k, struct gt_stack *s);
/* One that is in no list. */
void gt_stack_free(struct gt_stack *s);
/* A stack for a coroutine that begins; the old one is suspended. */
void gt_stack_begin(struct gt_thread *t, uint64_t time);
/* Suspends the thread's stack and goes on with s. */
void gt_stack_switch(struct gt_thread *t, struct gt_stack *s, uint64_t time);
/* A stack that no thread runs and whose top frame returns to pc; one suspended in the same function
 * as the present top frame is preferred. NULL: none; always so in a machine, where threads wait at
 * the same place (machine.h). */
struct gt_stack *gt_stack_find_suspended(const struct gt_thread *t, uint64_t pc);
/* Makes sure the sink has an output for the thread's stack. */
void gt_stack_open(struct gt_thread *t, uint64_t time);

/* A suspended stack whose thread is gone: its frames are closed, at the time it last ran. With the
 * tracker's lock. */
void gt_stack_end(struct gt_tracker *k, struct gt_stack *s);

/* A program makes a system call, if the last exit says so. It may be one that makes a process: that
 * begins with this stack, perhaps when the caller has left it. */
void gt_fork_snapshot_note(struct gt_thread *t, uint64_t last_exit);
/* A process begins where the system call that made it comes back to, with a copy of the stack. */
bool gt_fork_snapshot_take(struct gt_thread *t, uint64_t pc, uint64_t time);
/* A context's first function, which nobody called. */
void gt_begin_root(struct gt_thread *t, const struct gt_code *code, uint64_t time);

/* How many there are in nonlocal->restored. */
static inline uint32_t gt_nonlocal_words(const struct gt_nonlocal *nonlocal)
{
    uint32_t size = sizeof nonlocal->restored / sizeof nonlocal->restored[0];
    return nonlocal->n_restored < size ? nonlocal->n_restored : size;
}

/* True where the saved context still stands, and goes on at the code, then with so many frames. */
bool gt_saved_context_goes_on(const struct gt_saved_context *save, const struct gt_code *code,
                              uint32_t *frames);
/* What was saved in the word at the address, if it still stands; NULL. With the tracker's lock. */
const struct gt_saved_context *gt_saved_context_at(struct gt_tracker *k, uint64_t addr);
/* The context that was saved where one of t->nonlocal.restored was loaded from, if it still stands:
 * its stack, and how many frames it has left. */
struct gt_stack *gt_saved_context_find(struct gt_thread *t, const struct gt_code *code,
                                       uint32_t *depth);
/* What was saved in one of t->nonlocal.restored, if that stands on the thread's own stack: its slot
 * is 0 else. A process begins with a copy of its maker's. With the tracker's lock. */
struct gt_saved_context gt_saved_context_own(const struct gt_thread *t);
/* True where some saved context of the stack may still go on. With the tracker's lock. */
bool gt_saved_context_any(const struct gt_tracker *k, const struct gt_stack *s);

/* Control arrived at the entry of a function with one of GT_FUNC_UNWINDING, whose frame is the top.
 */
void gt_unwind_entered(struct gt_thread *t, uint32_t flags);
/* Where the exception on its way has landed, if it landed at the code; how many frames are left.
 * 0: not known. */
uint32_t gt_unwind_find(const struct gt_thread *t, const struct gt_code *code);
/* Control has landed somewhere: the exception on its way is over, and the handler that
 * gt_unwind_find took is done with. */
void gt_unwind_end(struct gt_thread *t);

/* ---- signals.c ------------------------------------------------------------------------------ */

/* The top frame is that of a handler which may have been called, and does not return as if. */
bool gt_signal_may_be(const struct gt_thread *t);
/* Remembers that the top frame is a signal handler's, and what the signal interrupted. False: no
 * memory. */
bool gt_signal_note(struct gt_thread *t, uint64_t last_exit, bool confirmed);
/* A handler begins at `code`. */
void gt_signal_begin(struct gt_thread *t, uint64_t last_exit, const struct gt_code *code,
                     uint64_t time);
/* The program seems to have called, or jumped to, the handler's entry. */
bool gt_signal_is_called(uint64_t last_exit, const struct gt_code *code);
/* The interrupted block goes on in its middle: what its end was to do has not happened. */
bool gt_signal_is_resumed_in(uint64_t last_exit, const struct gt_code *code);

#endif
