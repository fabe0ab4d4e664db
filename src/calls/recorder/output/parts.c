/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts that are finished while the guest runs: see parts.h. */
#include "calls/recorder/output/parts.h"

#include "base/thread.h"
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"

#include <string.h>

enum { STACK = 1 << 20 };

void gt_recorder_parts_put_texts(void *recorder)
{
    struct gt_recorder *r = recorder;
    gt_recorder_output_run_failed(r, NULL);
    if (!r->process.forked_from)
        gt_recorder_meta_put_info(r, NULL);
    gt_recorder_guest_tasks_write(r, NULL);
    gt_recorder_handlers_write(r, NULL);
    gt_recorder_open_calls_write(r, NULL);
}

static void finish_next(struct gt_recorder *r)
{
    struct gt_recorder_ended_parts *p = &r->parts;
    struct gt_error err;
    const uint32_t part = p->waiting[0];
    memmove(p->waiting, p->waiting + 1, --p->n_waiting * sizeof *p->waiting);
    pthread_mutex_unlock(&p->lock);
    gt_thread_worker_call(r->output.worker, gt_recorder_parts_put_texts, r);
    int status = gt_compact_work_finish_part(&r->output.packed.work, part, &err);
    pthread_mutex_lock(&p->lock);
    if (status < 0 && status != GT_E_NOT_FOUND && !p->err.status)
        p->err = err;
}

static void *serve(void *arg)
{
    struct gt_recorder *r = arg;
    struct gt_recorder_ended_parts *p = &r->parts;
    gt_thread_own_files();
    pthread_mutex_lock(&p->lock);
    while (p->n_waiting || !p->stop)
        if (p->n_waiting)
            finish_next(r);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void gt_recorder_parts_init(struct gt_recorder *r)
{
    pthread_mutex_init(&r->parts.lock, NULL);
    pthread_cond_init(&r->parts.changed, NULL);
}

void gt_recorder_parts_ended(void *self, uint32_t part)
{
    struct gt_recorder *r = self;
    struct gt_recorder_ended_parts *p = &r->parts;
    pthread_mutex_lock(&p->lock);
    if (p->n_waiting < GT_PARTS_WAITING)
        p->waiting[p->n_waiting++] = part;
    if (!p->running && !p->stop)
        p->running = gt_thread_start(&p->thread, STACK, serve, r) == 0;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void gt_recorder_parts_fork_prepare(struct gt_recorder *r)
{
    pthread_mutex_lock(&r->parts.lock);
}

void gt_recorder_parts_fork_parent(struct gt_recorder *r)
{
    pthread_mutex_unlock(&r->parts.lock);
}

/* The thread, and what it does, are the parent's. */
void gt_recorder_parts_fork_child(struct gt_recorder *r)
{
    struct gt_recorder_ended_parts *p = &r->parts;
    pthread_cond_init(&p->changed, NULL);
    p->n_waiting = 0;
    p->running = false;
    p->err = (struct gt_error){0};
    pthread_mutex_unlock(&p->lock);
}

void gt_recorder_parts_end(struct gt_recorder *r)
{
    struct gt_recorder_ended_parts *p = &r->parts;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->running)
        pthread_join(p->thread, NULL);
    p->running = false;
}

void gt_recorder_parts_report(const struct gt_recorder *r)
{
    const struct gt_compact_writer *writer = r->output.packed.writer;
    int error;
    uint64_t failed = writer ? gt_compact_writer_unsplit(writer, &error) : 0;
    if (failed)
        gt_host_message("%s: it could not be split %llu times: %s; the parts are larger",
                        r->output.packed.work.file, (unsigned long long)failed, strerror(error));
    if (r->parts.err.status)
        gt_host_message("a part was not finished: %s; run guesttrace repair %s", r->parts.err.text,
                        r->output.packed.work.file);
}
