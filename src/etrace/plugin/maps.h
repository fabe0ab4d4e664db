/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files a user-mode guest has mapped where: a note (etrace/format/mapping.h) when code of a
 * file is first translated, so that readers find the functions of programs and libraries, wherever
 * the guest's kernel loads them.
 *
 * A worker reads QEMU's /proc/self/maps, so that the guest's descriptors stay untouched. What it
 * read of a range is valid until the guest maps something else there.
 *
 * Of a machine all functions do nothing.
 */
#ifndef GT_ETRACE_PLUGIN_MAPS_H
#define GT_ETRACE_PLUGIN_MAPS_H

#include "base/error.h"
#include "qemu/host.h"

#include <glib.h>

struct gt_etrace;

struct gt_etrace_maps {
    struct gt_thread_worker *worker; /* NULL: a machine, or the recording has ended */
    char *program;                   /* the guest's, on QEMU's command line; NULL: unknown */
    GArray *ranges;                  /* address ranges that were read, by address; none overlap */
    unsigned streams; /* streams begun when a note was put last; notes put before the first
                       * reader connects are delivered to it, so that this begins with 1 */
};

/* GT_E_NOMEM, GT_E_IO. */
int gt_etrace_maps_start(struct gt_etrace *e, struct gt_error *err);
void gt_etrace_maps_stop(struct gt_etrace *e);
/* Puts the note of a block under translation, where it is due; to a new reader, all notes. Without
 * the recorder's lock. */
void gt_etrace_maps_translate(struct gt_etrace *e, const struct gt_host_block *block);
/* The vCPU begins a call of mmap. */
void gt_etrace_maps_on_mmap(struct gt_etrace *e, unsigned vcpu, uint64_t size);
/* Callback of the host; `self` is the recorder. */
void gt_etrace_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);
/* Around a fork, with the recorder's lock. The child has no worker. */
void gt_etrace_maps_fork_prepare(struct gt_etrace *e);
void gt_etrace_maps_fork_parent(struct gt_etrace *e);
void gt_etrace_maps_fork_child(struct gt_etrace *e);

#endif
