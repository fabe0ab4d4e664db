/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The beginning of a recording's output: a new directory or file, or that which this process has
 * recorded into before it replaced itself with execve().
 */
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/output/users.h"
#include "calls/recorder/recorder.h"
#include "qemu/support/execs.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *output_path(const struct gt_recorder *r)
{
    bool compact = r->options.format == GT_OUTPUT_COMPACT;
    return r->options.output ? r->options.output : compact ? "uftrace.gtrace" : "uftrace.data";
}

bool gt_recorder_output_continues(const struct gt_recorder *r)
{
    struct gt_compact_work work;
    if (!r->guest.user)
        return false;
    if (r->options.format != GT_OUTPUT_COMPACT)
        return gt_recorder_users_go_on(output_path(r));
    return gt_compact_work_name(output_path(r), &work, NULL) == 0 &&
           gt_compact_work_exists(&work) && gt_recorder_users_go_on(work.dir.path);
}

static int make_dir(struct gt_recorder *r, const char *path, struct gt_error *err)
{
    bool again = gt_recorder_output_continues(r);
    int status = again ? gt_uftrace_dir_open(&r->output.dir, path, err)
                       : gt_uftrace_dir_create(&r->output.dir, path, err);
    if (status == 0 && again)
        r->vcpus.last_time = gt_recorder_meta_last_time(&r->output.dir, r->process.pid);
    return status < 0 ? status : gt_recorder_users_begin(r, again, err);
}

static int make_output(struct gt_recorder *r, struct gt_error *err)
{
    const char *path = output_path(r);
    if (r->options.format == GT_OUTPUT_COMPACT) {
        int status = gt_recorder_packed_create(r, path, gt_recorder_output_continues(r), err);
        r->output.view = g_strdup_printf("guesttrace report %s", r->output.packed.work.file);
        return status;
    }
    int status = make_dir(r, path, err);
    r->output.view = g_strdup_printf("uftrace replay -d %s", r->output.dir.path);
    return status;
}

/* What the worker does. */
struct making {
    struct gt_recorder *rec;
    struct gt_error err;
    int status;
};

static void run_make_output(void *arg)
{
    struct making *making = arg;
    making->status = make_output(making->rec, &making->err);
}

static int create(struct gt_recorder *r, struct gt_error *err)
{
    r->process.pid = r->guest.user ? (uint32_t)getpid() : 1;
    r->process.first = !gt_execs_is_child();
    r->process.went_on = gt_recorder_output_continues(r);
    r->output.shared = mmap(NULL, sizeof *r->output.shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->output.shared == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    r->output.lock = -1;
    struct making make = {.rec = r};
    bool goes_on = gt_recorder_output_continues(r);
    if (gt_thread_worker_call(r->output.worker, run_make_output, &make) < 0)
        return gt_error_set(err, GT_E_IO, "the worker thread cannot be started");
    if (make.status < 0) {
        *err = make.err;
        return make.status;
    }
    int status = gt_streams_create(r->output.dir.path, gt_recorder_packed_pool(&r->options),
                                   &r->output.streams, err);
    if (status == 0 && r->arguments.on)
        gt_streams_expect_more(r->output.streams);
    if (status == 0)
        gt_recorder_packed_take_streams(r);
    if (status == 0 && !gt_recorder_packed_is_on(&r->output.packed) && !goes_on)
        gt_streams_begin_fresh(r->output.streams);
    return status;
}

int gt_recorder_output_create(struct gt_recorder *r, struct gt_error *err)
{
    int status = gt_thread_worker_create(&r->output.worker, err);
    if (status == 0)
        status = create(r, err);
    if (status < 0) { /* QEMU unloads us: no thread may be left in our code */
        gt_thread_worker_destroy(r->output.worker);
        r->output.worker = NULL;
    }
    return status;
}
