/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tracing.h. The monitor is started and stopped on a thread with a descriptor table of its own,
 * which the monitor's thread shares: its sockets have no numbers in the guest's table.
 */
#include "qemu/support/tracing.h"

#include "base/thread.h"
#include "events/library/thread.h"
#include "qemu/host.h"
#include "qemu/support/execs.h"

#include <guesttrace/control.h>
#include <guesttrace/monitor.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { STACK = 256 << 10, PATTERN_MAX = 256 };

const char *gt_tracing_patterns, *gt_tracing_file, *gt_tracing_socket;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    enum { IDLE, STARTING, LISTENING, REFUSED, STOPPING } state;
    pid_t pid; /* whose thread it is */
    struct gt_trace_error error;
} monitor = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool started;

static void own_files(void)
{
    gt_thread_own_files();
}

static void *keep_monitor(void *unused)
{
    gt_thread_own_files();
    int status = gt_trace_monitor_start(gt_tracing_socket, &monitor.error);
    pthread_mutex_lock(&monitor.lock);
    monitor.state = status < 0 ? REFUSED : LISTENING;
    pthread_cond_broadcast(&monitor.changed);
    while (monitor.state == LISTENING)
        pthread_cond_wait(&monitor.changed, &monitor.lock);
    pthread_mutex_unlock(&monitor.lock);
    gt_trace_monitor_stop();
    return unused;
}

static int start_monitor(struct gt_error *err)
{
    monitor.state = STARTING;
    monitor.pid = getpid();
    if (gt_thread_start(&monitor.thread, STACK, keep_monitor, NULL) != 0)
        return gt_error_set(err, GT_E_IO, "argument trace-socket=%.200s: no thread for it",
                            gt_tracing_socket);
    pthread_mutex_lock(&monitor.lock);
    while (monitor.state == STARTING)
        pthread_cond_wait(&monitor.changed, &monitor.lock);
    bool refused = monitor.state == REFUSED;
    pthread_mutex_unlock(&monitor.lock);
    if (!refused)
        return 0;
    pthread_join(monitor.thread, NULL);
    monitor.state = IDLE;
    return gt_error_set(err, GT_E_IO, "argument trace-socket=%.200s: %.300s", gt_tracing_socket,
                        monitor.error.text);
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
    for (const char *at = gt_tracing_patterns; at && *at;) {
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
    gt_tracing_file = gt_execs_own_path(gt_tracing_file ? gt_tracing_file : "trace");
    gt_tracing_socket = NULL;
}

int gt_tracing_start(struct gt_error *err)
{
    struct gt_trace_error why = {0};
    if (!gt_tracing_patterns && !gt_tracing_socket && !gt_tracing_file)
        return 0;
    started = true;
    take_own();
    gt_events_thread_begin = own_files;
    int status = switch_all_on(err);
    if (status == 0 && gt_tracing_file && gt_trace_file_set(gt_tracing_file, &why) < 0)
        status = gt_error_set(err, GT_E_IO, "argument trace-file=%.200s: %.300s", gt_tracing_file,
                              why.text);
    return status < 0 || !gt_tracing_socket ? status : start_monitor(err);
}

void gt_tracing_flush(void)
{
    if (started)
        gt_trace_file_flush(NULL);
}

void gt_tracing_finish(void)
{
    gt_tracing_flush();
    if (monitor.state != LISTENING || monitor.pid != getpid())
        return;
    pthread_mutex_lock(&monitor.lock);
    monitor.state = STOPPING;
    pthread_cond_broadcast(&monitor.changed);
    pthread_mutex_unlock(&monitor.lock);
    pthread_join(monitor.thread, NULL);
}
