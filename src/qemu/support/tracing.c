/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugins' own trace events: see tracing.h. */
#include "qemu/support/tracing.h"

#include "base/thread.h"
#include "events/library/record/writer.h"
#include "qemu/host.h"
#include "qemu/support/control.h"
#include "qemu/support/execs.h"

#include <guesttrace/control.h>
#include <pthread.h>
#include <string.h>

enum { PATTERN_MAX = 256 };

const char *gt_support_tracing_patterns, *gt_support_tracing_file, *gt_support_tracing_control,
    *gt_support_tracing_old_socket;

static bool started;
static struct gt_support_control *control; /* of a plugin without commands of its own */

static void own_files(void)
{
    gt_thread_own_files();
}

static void in_child(void)
{
    gt_support_control_fork_child(control);
    control = NULL;
}

static int start_control(struct gt_error *err)
{
    static const struct gt_events_monitor_command none[] = {{0}};
    const struct gt_support_control_options options = {.path = gt_support_tracing_control,
                                                       .table = {.commands = none},
                                                       .line = GT_CONTROL_LINE - 1,
                                                       .greets = true};
    int status = gt_support_control_start(&control, &options, err);
    if (status < 0)
        return status;
    pthread_atfork(NULL, NULL, in_child);
    gt_support_control_serve(control);
    return 0;
}

int gt_support_tracing_take_old_socket(const char **path, struct gt_error *err)
{
    if (!gt_support_tracing_old_socket)
        return 0;
    if (*path)
        return gt_error_set(
            err, GT_E_USAGE,
            "arguments control= and trace-socket= are one socket now: give control= "
            "alone");
    gt_host_message("argument trace-socket= is control= now");
    *path = gt_support_tracing_old_socket;
    gt_support_tracing_old_socket = NULL;
    return 0;
}

static int switch_on(const char *pattern, struct gt_error *err)
{
    struct gt_trace_error why = {0};
    int n = gt_trace_switch_all(pattern, true, &why);
    if (n > 0)
        return 0;
    return gt_error_set(err, GT_E_USAGE, "argument trace=%.100s: %s", pattern,
                        n < 0 ? why.text : "no event's name matches");
}

static int switch_all_on(struct gt_error *err)
{
    char pattern[PATTERN_MAX];
    for (const char *at = gt_support_tracing_patterns; at && *at;) {
        size_t n = strcspn(at, "+");
        if (n >= sizeof pattern)
            return gt_error_set(err, GT_E_USAGE, "argument trace=%.100s...: too long", at);
        memcpy(pattern, at, n);
        pattern[n] = 0;
        int status = switch_on(pattern, err);
        if (status < 0)
            return status;
        at += n + (at[n] == '+');
    }
    return 0;
}

/* A program that another one executed has a file of its own, and leaves it the socket. */
static void take_own(void)
{
    if (!gt_host_executed(NULL))
        return;
    gt_support_tracing_file =
        gt_execs_own_path(gt_support_tracing_file ? gt_support_tracing_file : "trace");
    gt_support_tracing_control = NULL;
}

int gt_support_tracing_start(struct gt_error *err)
{
    struct gt_trace_error why = {0};
    int status = gt_support_tracing_take_old_socket(&gt_support_tracing_control, err);
    gt_events_thread_begin = own_files;
    started = gt_support_tracing_patterns || gt_support_tracing_file || gt_support_tracing_control;
    if (started)
        take_own();
    if (status == 0)
        status = switch_all_on(err);
    if (status == 0 && gt_support_tracing_file &&
        gt_trace_file_set(gt_support_tracing_file, &why) < 0)
        status = gt_error_set(err, GT_E_IO, "argument trace-file=%.200s: %.300s",
                              gt_support_tracing_file, why.text);
    return status < 0 || !gt_support_tracing_control ? status : start_control(err);
}

void gt_support_tracing_flush(void)
{
    if (started || gt_events_monitor_ran_events()) /* else its thread would begin here */
        gt_trace_file_flush(NULL);
}

void gt_support_tracing_finish(void)
{
    gt_support_tracing_flush();
    gt_support_control_stop(control);
    control = NULL;
}
