/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callbacks at accesses to memory, where the host lets them be. In the translation callback. */
#ifndef GT_CALLS_RECORDER_TRANSLATE_WATCH_H
#define GT_CALLS_RECORDER_TRANSLATE_WATCH_H

#include "calls/recorder/translate/code.h"
#include "track/track.h"

/* False where the host keeps memory callbacks too long (GT_HOST_MEMORY_AT_EXIT), and the
 * instruction may be one that ends its block: the last one, at a page's end or where it is not a
 * plain access. */
bool gt_translate_may_watch_memory(const struct gt_translate_block *t, size_t i);

/* Calls fn at the accesses of instruction i, or of those up to `end`, if they may be watched. */
void gt_translate_watch_memory(const struct gt_translate_block *t, size_t i, gt_host_mem_fn fn,
                               unsigned which, void *data);
void gt_translate_watch_words(const struct gt_translate_block *t, size_t end, gt_host_mem_fn fn,
                              unsigned which);

/* In a callback of gt_translate_watch_memory, of a program: the word that was loaded. The host's
 * own word of it costs no system call, and is right where another thread stores there. False: a
 * store. */
bool gt_translate_watched_word(const struct gt_recorder *r, uint32_t meminfo, uint64_t vaddr,
                               uint64_t *out);

/* Words up to `end` that a function saves contexts to, or that one loads which says where a frame
 * is: track/track.h, GT_FUNC_SAVER and GT_FUNC_GET_IP. */
void gt_translate_watch_contexts(const struct gt_translate_block *t, size_t end,
                                 const struct gt_track_func *fn);

#endif
