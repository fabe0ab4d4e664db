/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to track/: what happens to one call stack, and to the list of them. */
#ifndef GT_TRACK_STACK_H
#define GT_TRACK_STACK_H

#include "track/track.h"

/* Pushes and records; counts GT_ANOMALY_TOO_DEEP where the stack may not grow. */
void gt_stack_push(struct gt_track_thread *t, struct gt_track_frame frame, uint64_t time);
/* Pushes a frame that may be of no function, but of code that jumps on to it: its entry is recorded
 * only when something else is recorded of the stack. */
void gt_stack_defer(struct gt_track_thread *t, struct gt_track_frame frame, uint64_t time);
/* As gt_stack_tail_call, but recorded in that way. */
void gt_stack_defer_jump(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* Records the deferred jump. */
void gt_stack_flush(struct gt_track *k, struct gt_stack *s);
/* Such a top frame jumped to the code. True: it was of no function. */
bool gt_stack_pass_on(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* To the sink: what the stack has open ends without having returned. gt_stack_close is next. */
void gt_stack_report_end(struct gt_track *k, struct gt_stack *s, uint64_t time);
/* Pops and records until `depth` frames are left. */
void gt_stack_close(struct gt_track *k, struct gt_stack *s, uint32_t depth, uint64_t time);
/* The code's function replaces the top frame. */
void gt_stack_replace(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* The top frame's function jumped to the code's: the same, or what tail_calls.h says. */
void gt_stack_tail_call(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* Records all open frames as entered. */
void gt_stack_enter_again(struct gt_track *k, struct gt_stack *s, uint64_t time);
/* Code of that level runs on the stack from now on. */
void gt_stack_set_level(struct gt_stack *s, unsigned level);
/* The depth of the innermost frame that returns to pc (1 is the outermost); 0: none does. */
uint32_t gt_stack_find_return(const struct gt_stack *s, uint64_t pc);
/* True where the frame may be of the block's function. */
bool gt_track_frame_owns(const struct gt_track_frame *f, const struct gt_code *code);
/* The innermost frame whose function contains the block, as a depth; 0: none. *candidates: how many
 * frames are of that function, entered at that address. */
uint32_t gt_stack_find_function(const struct gt_stack *s, const struct gt_code *code,
                                unsigned *candidates);
/* Forgets signal handlers whose frames, on the thread's stack, are deeper. */
void gt_stack_forget_signals(struct gt_track_thread *t, uint32_t depth);

/* Returns an empty stack that no thread runs, in the tracker's list. NULL: no memory. */
struct gt_stack *gt_stack_create(struct gt_track *k);
/* The same, or one that has ended, where there are many. */
struct gt_stack *gt_stack_take(struct gt_track *k);
/* Takes the stack out of the tracker's list. With the tracker's lock. */
void gt_stack_unlink(struct gt_track *k, struct gt_stack *s);
/* Frees a stack that is in no list. */
void gt_stack_free(struct gt_stack *s);
/* Suspends the thread's stack and continues with a new one: a coroutine begins. */
void gt_stack_begin(struct gt_track_thread *t, uint64_t time);
/* Suspends the thread's stack and continues with s. */
void gt_stack_switch(struct gt_track_thread *t, struct gt_stack *s, uint64_t time);
/* The same, but the stack that is left stays the thread's: it comes back to it. False: no memory,
 * nothing has changed. */
bool gt_stack_visit(struct gt_track_thread *t, struct gt_stack *s, uint64_t time);
void gt_stack_come_back(struct gt_track_thread *t, struct gt_stack *s, uint64_t time);
/* Returns a stack that no thread runs and whose top frame returns to pc, preferably one suspended
 * in the function of the present top frame. *several: there is another one as good. NULL: no such
 * stack; in a machine, where many threads are suspended at one address, also where it is known by
 * its stack pointer or a word which of them continues (machine.h). */
struct gt_stack *gt_stack_find_suspended(const struct gt_track_thread *t, uint64_t pc,
                                         bool *several);
/* Makes sure the sink has an output for the thread's stack. */
void gt_stack_open(struct gt_track_thread *t, uint64_t time);

/* Closes the frames of a suspended stack whose thread is gone, at the time when it last ran. With
 * the tracker's lock. */
void gt_stack_end(struct gt_track *k, struct gt_stack *s);

/* Takes a fork snapshot of the stack if the last exit is that of a program's system call: it may
 * create a process, which begins with these frames, perhaps after the caller has left them. */
void gt_track_fork_snapshot_note(struct gt_track_thread *t, uint64_t last_exit);
/* If a system call that returns to pc has a fork snapshot, begins a process with those frames.
 * False: none has. */
bool gt_track_fork_snapshot_take(struct gt_track_thread *t, uint64_t pc, uint64_t time);
/* Drops all of them. With the tracker's lock. */
void gt_track_fork_snapshots_forget(struct gt_track *k);
/* Copies all of them, for free(); *bytes grows by the copy's size. *out is NULL where there are
 * none. False: no memory. With the tracker's lock. */
bool gt_track_fork_snapshots_copy(const struct gt_track *k, struct gt_track_fork_snapshot **out,
                                  size_t *bytes);
/* The stacks are as the copy has them. With the tracker's lock. */
void gt_track_fork_snapshots_restore(struct gt_track *k, const struct gt_track_fork_snapshot *copy);
/* A context's first function, which has no caller. */
void gt_track_begin_root(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);
/* The same where control has not been followed for a time: the code may be in the middle of an old
 * context, unless it is a function's entry. */
void gt_track_begin_context(struct gt_track_thread *t, const struct gt_code *code, uint64_t time);

/* The number of words in nonlocal->restored. */
static inline uint32_t gt_track_nonlocal_words(const struct gt_track_nonlocal *nonlocal)
{
    uint32_t size = sizeof nonlocal->restored / sizeof nonlocal->restored[0];
    return nonlocal->n_restored < size ? nonlocal->n_restored : size;
}

/* The newest of them that had the stack pointer, which is `sp` now; 0: none. */
uint64_t gt_track_nonlocal_word(const struct gt_track_nonlocal *nonlocal, uint64_t sp);

/* True where the saved context is still valid and continues at the code, with *frames frames. */
bool gt_track_saved_context_goes_on(const struct gt_track_saved_context *save,
                                    const struct gt_code *code, uint32_t *frames);
/* The context saved in the word at the address; NULL: none that is valid. With the tracker's lock.
 */
const struct gt_track_saved_context *gt_track_saved_context_at(struct gt_track *k, uint64_t addr);
/* Finds a valid context saved at one of t->nonlocal.restored that continues at the code. Returns
 * its stack, with the number of its frames in *depth; NULL: none. */
struct gt_stack *gt_track_saved_context_find(struct gt_track_thread *t, const struct gt_code *code,
                                             uint32_t *depth);
/* The valid context of the thread's own stack that was saved in one of t->nonlocal.restored; its
 * slot is 0 if there is none. A process begins with a copy of its parent's. With the tracker's
 * lock. */
struct gt_track_saved_context gt_track_saved_context_own(const struct gt_track_thread *t);
/* True where some saved context of the stack may still continue. With the tracker's lock. */
bool gt_track_saved_context_any(const struct gt_track *k, const struct gt_stack *s);

/* Control arrived at the entry of a function with one of GT_FUNC_UNWINDING; its frame is on top. */
void gt_track_unwind_entered(struct gt_track_thread *t, uint32_t flags);
/* The number of frames that remain if the exception under way continues at the code. 0: not known.
 */
uint32_t gt_track_unwind_find(const struct gt_track_thread *t, const struct gt_code *code);
/* Control has continued somewhere: ends the exception under way, and drops the handler that
 * gt_track_unwind_find found. */
void gt_track_unwind_end(struct gt_track_thread *t);

/* ---- signals.c ------------------------------------------------------------------------------ */

/* True where the top frame is a handler's that may have been called, but does not return to a
 * caller. */
bool gt_track_signal_may_be(const struct gt_track_thread *t);
/* Remembers that the top frame is a signal handler's, and what the signal interrupted. False: no
 * memory. */
bool gt_track_signal_note(struct gt_track_thread *t, uint64_t last_exit, bool confirmed);
/* What memory has of interrupted code, where a handler's stack pointer is `frame`. False: it is not
 * known. */
bool gt_track_signal_read(const struct gt_track *k, uint64_t frame,
                          struct gt_track_signal_state *out);
/* A handler begins at `code`. */
void gt_track_signal_begin(struct gt_track_thread *t, uint64_t last_exit,
                           const struct gt_code *code, uint64_t time);
/* True where the program seems to have called, or jumped to, the handler's entry. */
bool gt_track_signal_is_called(uint64_t last_exit, const struct gt_code *code);
/* True where the interrupted block continues in its middle, so that its exit has not happened yet.
 */
bool gt_track_signal_is_resumed_in(const struct gt_stack *s, uint64_t last_exit,
                                   const struct gt_code *code);

#endif
