/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers that are handed over before they are full: a guest that waits, execve, fork, the end. */
#ifndef GT_ETRACE_PLUGIN_FINISH_H
#define GT_ETRACE_PLUGIN_FINISH_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct gt_etrace;

/* Callbacks of the host; `self` is the recorder. on_exit ends the recording; later calls do
 * nothing. */
void gt_etrace_on_vcpu_idle(void *self, unsigned vcpu);
void gt_etrace_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_etrace_on_shutdown(void *self);
void gt_etrace_on_exit(void *self);
/* Callbacks of the packet sink, on its thread: what a stream begins with; the event that says how
 * many bytes are missing. */
size_t gt_etrace_put_head(void *self, uint8_t *out);
size_t gt_etrace_put_dropped(void *self, uint64_t bytes, uint8_t *out);

/* User mode: a child of fork() records nothing. The handlers act on the loaded plugin's recorder.
 * `follow`: the file of the first program, of which those that it executes have their own; NULL:
 * these run outside. GT_E_NOMEM, GT_E_IO. */
int gt_etrace_watch_forks(struct gt_etrace *e, const char *follow, struct gt_error *err);

#endif
