/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to track/: the stack pointer of a program, and what its stack has in memory. */
#ifndef GT_TRACK_STACK_MEMORY_H
#define GT_TRACK_STACK_MEMORY_H

#include "track/track.h"

enum { GT_STACK_LONGEST = 8 << 20 }; /* bytes: stacks are seldom longer */

/* Between these a transfer is decided. It may read little, and more as far as the thread's calls
 * allow. end: true where a search was given up, so that the decision may be wrong. */
void gt_stack_memory_begin_search(struct gt_track_thread *t);
bool gt_stack_memory_end_search(struct gt_track_thread *t);

/* The stack pointer, if its register can be read; 0: it cannot. */
uint64_t gt_stack_pointer_read(const struct gt_track_thread *t);
/* The stack pointer after it was loaded; 0: not known. */
uint64_t gt_stack_pointer_now(const struct gt_track_thread *t);

/* Words of the program's memory, read upwards. */
struct gt_stack_words {
    struct gt_track_thread *t;
    uint64_t at, end;      /* the next word, and the end of the search */
    uint64_t first, after; /* the stack that `buffer` holds */
    bool ends;             /* there is no memory at `after`, or it is not read */
    uint8_t buffer[4096];
};

/* Finds the word, and moves behind it. False: it is not there, and w->at stays. */
bool gt_stack_words_find(struct gt_stack_words *w, uint64_t value);

/* True where memory from sp on has what the stack's outermost n frames return to, innermost first:
 * as it has where these remain. Below a signal's frame, or on other memory, frames need not be
 * there, nor frames of outermost functions, which may never return. `apart`: the most bytes from
 * one to the next. */
bool gt_stack_memory_has_frames(struct gt_track_thread *t, const struct gt_stack *s, uint64_t sp,
                                uint64_t apart, uint32_t n);
/* All of the thread's frames are there: the stack pointer has left none. */
bool gt_stack_memory_has_all_frames(struct gt_track_thread *t, uint64_t sp);
/* True where memory has the return address from sp on, at most that far. */
bool gt_stack_memory_has_return(struct gt_track_thread *t, uint64_t sp, uint64_t apart,
                                uint64_t ret);
/* Sets *n to the most for which gt_stack_memory_has_frames is true. False: memory cannot be
 * read. */
bool gt_stack_memory_count_frames(struct gt_track_thread *t, const struct gt_stack *s, uint64_t sp,
                                  uint64_t apart, uint32_t *n);
/* Which frames of the running stack remain where the stack pointer is now, as memory has them:
 * those that called the innermost one that returns to the code; or (returns is false) the innermost
 * one of the code's function, and those below. False: not known. */
bool gt_stack_memory_find_frames(struct gt_track_thread *t, const struct gt_code *code,
                                 bool returns, uint32_t *remain);

#endif
