/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recorder's way into a compact file: the backend (base/stream/packing.h) that packs records and
 * adds blocks. Several processes may add to one file; each is a packer of its own, its number the
 * process's id.
 *
 * A process that goes on after an execve(), or has the number of an earlier one, continues the
 * packer that the file has. So that the whole file need not be read for that, each packer has a
 * small file in a directory, ".guesttrace-NUMBER.packer": where its last segment begins, and the
 * number of the part that has it (u64 each, of the host's byte order; empty: not known).
 */
#ifndef GT_CALLS_FILE_WRITER_H
#define GT_CALLS_FILE_WRITER_H

#include "base/error.h"
#include "base/stream/packing.h"
#include "calls/file/split.h"

struct gt_compact_writer;

struct gt_compact_writer_options {
    const char *path, *dir; /* the file, which must exist; the directory for packers' files */
    /* True where times repeat; asked when a block begins. NULL: they do. */
    bool (*exact)(const void *self);
    const void *self;
    /* How it is split and limited; {0}: not. `finished`: a part has got its own name and can be
     * finished (gt_compact_work_finish_part); on the thread that records. */
    struct gt_compact_limits limits;
    void (*finished)(void *self, uint32_t part);
    void *finished_self;
};

/* Texts are copied. GT_E_NOMEM. */
int gt_compact_writer_create(const struct gt_compact_writer_options *o,
                             struct gt_compact_writer **out);
void gt_compact_writer_destroy(struct gt_compact_writer *w); /* NULL is fine */

/* While it is not open: the time of the task's last record in the last segment of that number; 0:
 * there is none. */
uint64_t gt_compact_writer_last_time(struct gt_compact_writer *w, uint32_t number, uint32_t task);

/* Times that the recording could not be split, and the errno value of the last time. */
uint64_t gt_compact_writer_unsplit(const struct gt_compact_writer *w, int *error);

/* True: when it was closed the file had no name any more, so that nothing is left of it. */
bool gt_compact_writer_is_removed(const struct gt_compact_writer *w);

/* Its functions' `self` is a writer. */
extern const struct gt_stream_packing gt_compact_packing;

#endif
