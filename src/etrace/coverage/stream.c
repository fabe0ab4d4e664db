/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts from a stream: see stream.h. */
#include "etrace/coverage/stream.h"
#include "etrace/format/mapping.h"

#include "etrace/coverage/counters.h"
#include "etrace/dump/walk.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

struct count {
    const char *path;
    struct gt_coverage *c;
    struct gt_coverage_stream *stream;
    struct gt_coverage_counters *counters;
};

static int count_exec(struct count *k, const struct gt_etrace_reader *r,
                      const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_coverage *c = k->c;
    struct gt_etrace_exec x;
    int status = gt_etrace_get_exec(r, p, &x, err);
    if (status < 0)
        return status;
    if (x.n && !k->stream->has_exec) {
        gt_coverage_reset(c); /* counts that came before say the same */
        k->stream->has_exec = true;
    }
    for (size_t i = 0; i < x.n; i++) {
        const struct gt_etrace_entry e = gt_etrace_entry_at(&x, i);
        gt_coverage_add(c, e.start, e.end);
    }
    return GT_OK;
}

bool gt_coverage_is_count(const struct gt_etrace_event *e, uint64_t *start, uint64_t *end)
{
    return strcmp(e->device, GT_ETRACE_COUNT_DEVICE) == 0 &&
           gt_etrace_count_parse(e->name, start, end);
}

static int count_event(struct count *k, const struct gt_etrace_reader *r,
                       const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_event e;
    uint64_t start, end;
    int status = gt_etrace_get_event(r, p, &e, err);
    if (status < 0 || strcmp(e.device, GT_ETRACE_COUNT_DEVICE) != 0 || k->stream->has_exec)
        return status;
    if (!gt_etrace_count_parse(e.name, &start, &end))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s offset %" PRIu64 ": a count of \"%.80s\", expected a range of"
                            " addresses 0xSTART-0xEND",
                            k->path, p->offset, e.name);
    if (e.value < e.previous)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s offset %" PRIu64 ": %s ran %" PRIu64 " times, expected at least"
                            " the previous %" PRIu64,
                            k->path, p->offset, e.name, e.value, e.previous);
    uint64_t more = gt_coverage_has(k->c, start, end)
                        ? gt_coverage_counters_say(k->counters, start, end, e.value, e.previous)
                        : e.value - e.previous;
    if (gt_coverage_add_times(k->c, start, end, more) < 0)
        return gt_error_set(err, GT_E_RANGE,
                            "%s offset %" PRIu64 ": %s ran %" PRIu64 " times, with the others"
                            " more than 2^63",
                            k->path, p->offset, e.name, e.value);
    return GT_OK;
}

static int look_at_arch(struct count *k, const struct gt_etrace_reader *r,
                        const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_arch arch;
    int status = gt_etrace_get_arch(r, p, &arch, err);
    if (status == 0) {
        k->stream->has_arch = true;
        k->stream->machine = (uint16_t)arch.guest.id;
    }
    return status;
}

static int count_packet(void *self, const struct gt_etrace_reader *r,
                        const struct gt_etrace_packet *p, struct gt_error *err)
{
    switch (p->type) {
    case GT_ETRACE_EXEC:
        return count_exec(self, r, p, err);
    case GT_ETRACE_EVENT:
    case GT_ETRACE_EVENT_OLD:
        return count_event(self, r, p, err);
    case GT_ETRACE_ARCH:
        return look_at_arch(self, r, p, err);
    default:
        return GT_OK;
    }
}

int gt_coverage_read(const struct gt_error_notices *notices, struct gt_recording_input *in,
                     struct gt_coverage *c, struct gt_coverage_stream *out, struct gt_error *err)
{
    struct count k = {in->name, c, out, gt_coverage_counters_create()};
    const struct gt_etrace_walk walk = {notices, in->name, &k, count_packet};
    *out = (struct gt_coverage_stream){0};
    int status = gt_etrace_walk_in(&walk, in, err);
    gt_coverage_counters_destroy(k.counters);
    return status;
}
