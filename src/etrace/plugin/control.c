/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of control=PATH: see control.h. */
#include "etrace/plugin/control.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/control.h"

#include <inttypes.h>

enum {
    LINE = 79,      /* most bytes of a command */
    SNAPSHOT = 200, /* bytes of its event */
};

/* After the counts of a command, an event with the command's number. */
static void put_snapshot(struct gt_etrace *e)
{
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, NULL, SNAPSHOT);
    if (!buf)
        return;
    gt_etrace_put_event(&buf->w, &(struct gt_etrace_event){.value = ++e->control.snapshots,
                                                           .previous = e->control.snapshots - 1,
                                                           .device = "etrace",
                                                           .name = "counts"});
    gt_etrace_put_end(buf);
}

static void do_counts(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_etrace *e = self;
    (void)args;
    if (!(e->flags & GT_ETRACE_F_COVERAGE)) {
        gt_events_monitor_fail(answer, "counts: flags=coverage was not asked for");
        return;
    }
    size_t n = gt_etrace_put_counts(e);
    put_snapshot(e);
    gt_etrace_hand_over_own(e);
    gt_packet_sink_flush(e->sink);
    gt_events_monitor_succeed(answer, "%zu counts, number %u", n, e->control.snapshots);
}

static void do_flush(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_etrace *e = self;
    (void)args, (void)answer;
    gt_packet_sink_flush(e->sink);
}

static void do_status(void *self, const char *args, struct gt_events_monitor_answer *answer)
{
    struct gt_etrace *e = self;
    struct gt_packet_sink_stats stats;
    (void)args;
    gt_packet_sink_get_stats(e->sink, &stats);
    gt_events_monitor_succeed(answer, "written=%" PRIu64 " dropped=%" PRIu64 " vcpus=%u",
                              stats.sent, stats.dropped,
                              __atomic_load_n(&e->n_vcpus, __ATOMIC_RELAXED));
}

static const struct gt_events_monitor_command commands[] = {
    {"counts", .run = do_counts}, {"flush", .run = do_flush}, {"status", .run = do_status}, {0}};

int gt_etrace_control_start(struct gt_etrace *e, const char *path, struct gt_error *err)
{
    const struct gt_support_control_options options = {
        .path = path, .table = {.commands = commands, .self = e}, .line = LINE};
    int status = gt_support_control_start(&e->control.socket, &options, err);
    if (status == 0)
        gt_support_control_serve(e->control.socket);
    /* Where the program that executed this one listens, no other process does. */
    return status == GT_E_EXISTS && gt_host_executed(NULL) ? 0 : status;
}

void gt_etrace_control_stop(struct gt_etrace *e)
{
    gt_support_control_stop(e->control.socket);
    e->control.socket = NULL;
}

void gt_etrace_control_fork_child(struct gt_etrace *e)
{
    gt_support_control_fork_child(e->control.socket);
    e->control.socket = NULL;
}
