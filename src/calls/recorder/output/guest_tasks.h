/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a Linux guest that contexts had (recording/texts/guest_tasks.h). Contexts end, and
 * others take their place: each thread of a context is listed, once for each of its names.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_GUEST_TASKS_H
#define GT_CALLS_RECORDER_OUTPUT_GUEST_TASKS_H

#include "qemu/support/pages.h"
#include "recording/texts/guest_tasks.h"

#include <glib.h>
#include <pthread.h>

struct gt_recorder;

/* Zero: none are listed, nor will be. */
struct gt_recorder_guest_tasks {
    pthread_mutex_t lock;          /* of the members below */
    GPtrArray *all;                /* struct gt_recording_guest_task, in order; NULL: not begun */
    GHashTable *known;             /* the same, by content */
    struct gt_support_arena arena; /* their memory */
    uint64_t unlisted;             /* those for which there was no room */
};

/* At load, where names of threads can be read. */
void gt_recorder_guest_tasks_init(struct gt_recorder_guest_tasks *g);
/* A context has that thread. Any thread. */
void gt_recorder_guest_tasks_note(struct gt_recorder_guest_tasks *g,
                                  const struct gt_recording_guest_task *t);
/* Writes them to GT_GUEST_TASKS_FILE, if there are any. On the worker. Errors of
 * gt_file_replace_text. */
int gt_recorder_guest_tasks_write(struct gt_recorder *r, struct gt_error *err);
/* Prints how many that file lacks, if any. */
void gt_recorder_guest_tasks_report(const struct gt_recorder *r);

#endif
