/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that have not returned at the end: see open_calls.h. */
#include "calls/recorder/output/open_calls.h"

#include "calls/recorder/recorder.h"
#include "calls/recorder/task.h"
#include "recording/texts/files.h"
#include "recording/texts/open_calls.h"

void gt_recorder_open_calls_init(struct gt_recorder_open_calls *o)
{
    *o =
        (struct gt_recorder_open_calls){0}; /* another thread of the parent may have had the text */
    pthread_mutex_init(&o->lock, NULL);
}

void gt_recorder_open_calls_note(struct gt_recorder_open_calls *o, uint32_t task, uint64_t time,
                                 uint32_t depth)
{
    pthread_mutex_lock(&o->lock);
    gt_recording_open_calls_put(&o->text, task, time, depth);
    pthread_mutex_unlock(&o->lock);
}

void gt_recorder_open_calls_end(void *recorder, struct gt_stack *s, uint64_t time)
{
    struct gt_recorder *r = recorder;
    gt_recorder_open_calls_note(&r->open_calls, gt_recorder_task_of(s)->id, time,
                                gt_stack_depth(s));
}

int gt_recorder_open_calls_write(struct gt_recorder *r, struct gt_error *err)
{
    struct gt_recorder_open_calls *o = &r->open_calls;
    int status = 0;
    pthread_mutex_lock(&o->lock);
    if (o->text.failed || o->text.len)
        status = gt_uftrace_dir_add_text(&r->output.dir, GT_OPEN_CALLS_FILE, &o->text, err);
    gt_text_free(&o->text);
    pthread_mutex_unlock(&o->lock);
    return status;
}
