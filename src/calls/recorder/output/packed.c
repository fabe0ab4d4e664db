/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings in one file: see packed.h. */
#include "calls/recorder/output/packed.h"
#include "calls/file/mend.h"
#include "calls/file/work_parts.h"
#include "calls/recorder/output/users.h"
#include "calls/recorder/recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { LEAST_POOL = 1 << 20 }; /* bytes */

/* ---- start --------------------------------------------------------------------------------- */

/* With a change of clock the times of records do not repeat any more. On the streams' writer. */
static bool is_exact(const void *self)
{
    const struct gt_recorder *r = self;
    return !__atomic_load_n(&r->hot.host_clock, __ATOMIC_RELAXED);
}

int gt_recorder_packed_check(const struct gt_recorder_options *o, struct gt_error *err)
{
    struct gt_compact_flight_limit limit;
    struct gt_compact_limits limits;
    struct gt_error why;
    const char *other = o->split ? "split" : "size-limit";
    if ((o->split || o->size_limit) && o->format != GT_OUTPUT_COMPACT)
        return gt_error_set(err, GT_E_USAGE,
                            "argument %s=: only compact recordings are split or limited; add "
                            "format=compact",
                            other);
    if ((o->split || o->size_limit) && o->last)
        return gt_error_set(err, GT_E_USAGE,
                            "argument %s=: a flight recorder (last=) has a size of its own; leave "
                            "one of them out",
                            other);
    if (gt_compact_limits_parse(o->split, o->size_limit, &limits, &why) < 0)
        return gt_error_set(err, GT_E_USAGE, "argument %s", why.text);
    if (!o->last)
        return 0;
    if (o->format != GT_OUTPUT_COMPACT)
        return gt_error_set(err, GT_E_USAGE,
                            "argument last=%.40s: only compact recordings have a flight recorder; "
                            "add format=compact",
                            o->last);
    if (gt_compact_flight_parse(o->last, &limit, &why) < 0)
        return gt_error_set(err, GT_E_USAGE, "argument last=%s", why.text);
    return 0;
}

static int create_work(const struct gt_recorder *r, const char *path, struct gt_compact_work *w,
                       struct gt_error *err)
{
    struct gt_compact_flight_limit limit;
    struct gt_compact_limits limits;
    if (r->options.split) {
        int parsed = gt_compact_limits_parse(r->options.split, r->options.size_limit, &limits, err);
        return parsed < 0 ? parsed : gt_compact_work_create_set(path, limits.total, w, err);
    }
    if (!r->options.last)
        return gt_compact_work_create(path, w, err);
    int status = gt_compact_flight_parse(r->options.last, &limit, err);
    return status < 0 ? status : gt_compact_work_create_flight(path, &limit, w, err);
}

static int create_flight(struct gt_recorder *r, bool again, struct gt_error *err)
{
    struct gt_recorder_packed *p = &r->output.packed;
    struct gt_compact_flight_options o = {.dir = p->work.dir.path, .exact = is_exact, .self = r};
    int status = gt_compact_flight_parse(r->options.last, &o.limit, err);
    if (status == 0 && gt_compact_flight_create(&o, &p->flight) < 0)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", p->work.file);
    p->work.flight = true;
    if (status == 0 && again)
        r->vcpus.last_time = gt_compact_flight_last_time(p->flight, r->process.pid, r->process.pid);
    return status;
}

int gt_recorder_packed_create(struct gt_recorder *r, const char *path, bool again,
                              struct gt_error *err)
{
    struct gt_recorder_packed *p = &r->output.packed;
    int status = gt_compact_work_name(path, &p->work, err);
    if (status == 0)
        status = again ? gt_compact_work_enter(&p->work, err) : create_work(r, path, &p->work, err);
    if (status < 0)
        return status;
    gt_recorder_users_keep(r, &p->work.lock);
    r->output.dir = p->work.dir;
    if (r->options.last)
        return create_flight(r, again, err);
    struct gt_compact_writer_options o = {.path = p->work.file,
                                          .dir = p->work.dir.path,
                                          .exact = is_exact,
                                          .self = r,
                                          .finished = gt_recorder_parts_ended,
                                          .finished_self = r};
    status = gt_compact_limits_parse(r->options.split, r->options.size_limit, &o.limits, err);
    if (status < 0)
        return status;
    p->work.limit = o.limits.total;
    status = gt_compact_writer_create(&o, &p->writer);
    if (status < 0)
        return gt_error_set(err, status, "%s: out of memory", p->work.file);
    if (again)
        r->vcpus.last_time = gt_compact_writer_last_time(p->writer, r->process.pid, r->process.pid);
    return 0;
}

size_t gt_recorder_packed_pool(const struct gt_recorder_options *o)
{
    struct gt_compact_flight_limit limit;
    if (!o->last || gt_compact_flight_parse(o->last, &limit, NULL) < 0 || limit.time)
        return 0;
    return limit.bytes / 4 > LEAST_POOL ? limit.bytes / 4 : LEAST_POOL;
}

void gt_recorder_packed_take_streams(struct gt_recorder *r)
{
    const struct gt_recorder_packed *p = &r->output.packed;
    if (p->flight)
        gt_streams_pack(r->output.streams, &gt_compact_flight_packing, p->flight, r->process.pid);
    else if (p->writer)
        gt_streams_pack(r->output.streams, &gt_compact_packing, p->writer, r->process.pid);
}

/* ---- end ----------------------------------------------------------------------------------- */

void gt_recorder_packed_end_streams(const struct gt_recorder *r,
                                    const struct gt_stream_loss *stream, size_t n)
{
    const struct gt_compact_work *w = &r->output.packed.work;
    struct gt_compact_mend *mend;
    struct gt_error damage;
    if (n == 0 || w->flight || /* a snapshot ends no call */
        gt_compact_mend_open(w->file, w->dir.path, r->process.pid, NULL, &mend, &damage, NULL) < 0)
        return;
    const struct gt_uftrace_repair_records records = gt_compact_mend_records(mend);
    for (size_t i = 0; i < n; i++)
        gt_uftrace_dir_end_task(&w->dir, &records, stream[i].id, NULL);
    gt_compact_mend_close(mend, NULL);
}

static int end_flight(struct gt_recorder *r, bool more, struct gt_error *err)
{
    struct gt_compact_work *w = &r->output.packed.work;
    more |= __atomic_load_n(&r->output.shared->forked, __ATOMIC_RELAXED);
    int64_t n = gt_compact_work_end_flight(w, more, err);
    if (n > 0) {
        g_free(r->output.view);
        r->output.view = g_strdup_printf("guesttrace report %s", w->snapshot);
    }
    return n < 0 ? (int)n : 0;
}

int gt_recorder_packed_finish(struct gt_recorder *r, bool more, struct gt_error *err)
{
    struct gt_recorder_packed *p = &r->output.packed;
    int status = 0;
    if (!gt_recorder_packed_is_on(p))
        return 0;
    bool last = gt_recorder_users_is_last(r);
    p->removed = p->writer && !r->options.split && gt_compact_writer_is_removed(p->writer);
    if (last && p->removed)
        status = gt_compact_work_remove_dir(&p->work, err);
    else if (last && p->flight)
        status = end_flight(r, more, err);
    else if (last)
        status = gt_compact_work_gather(&p->work, err);
    if (status < 0) {
        g_free(r->output.view);
        r->output.view = g_strdup_printf("guesttrace repair %s", p->work.file);
    }
    return status;
}
