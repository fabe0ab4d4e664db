/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control of the simple backend: see guesttrace/control.h. */
#include "events/library/control/registry.h"
#include "events/library/record/buffer.h"
#include "events/library/record/simple.h"
#include "events/library/record/writer.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_MIN = 64 << 10, BUFFER_MAX = 1 << 30 };

/* A program may change its directory later. */
static int absolute(const char *path, char *out, size_t size, struct gt_trace_error *error)
{
    char cwd[PATH_MAX] = "";
    bool relative = *path != '/';
    if (!*path || (relative && !getcwd(cwd, sizeof cwd)) ||
        (size_t)snprintf(out, size, "%s%s%s", cwd, relative ? "/" : "", path) >= size)
        return gt_events_fail(error, GT_TRACE_E_USAGE, "trace file '%s': no usable path", path);
    return GT_TRACE_OK;
}

int gt_trace_file_set(const char *path, struct gt_trace_error *error)
{
    char whole[PATH_MAX];
    int status = absolute(path, whole, sizeof whole, error);
    return status ? status : gt_events_writer_ask(GT_EVENTS_SET, whole, error);
}

int gt_trace_file_enable(bool on, struct gt_trace_error *error)
{
    (void)error;
    gt_events_lock();
    gt_events_simple.paused = !on;
    gt_events_hold_back(GT_TRACE_SIMPLE, !on);
    gt_events_unlock();
    return GT_TRACE_OK;
}

int gt_trace_file_flush(struct gt_trace_error *error)
{
    return gt_events_writer_ask(gt_events_simple.policy == GT_TRACE_OVERWRITE ? GT_EVENTS_DUMP
                                                                              : GT_EVENTS_FLUSH,
                                NULL, error);
}

int gt_trace_file_dump(const char *path, struct gt_trace_error *error)
{
    char whole[PATH_MAX];
    if (!path)
        return gt_events_writer_ask(GT_EVENTS_DUMP, NULL, error);
    int status = absolute(path, whole, sizeof whole, error);
    return status ? status : gt_events_writer_ask(GT_EVENTS_DUMP, whole, error);
}

int gt_trace_file_buffer(size_t size, struct gt_trace_error *error)
{
    if (size < BUFFER_MIN || size > BUFFER_MAX)
        return gt_events_fail(error, GT_TRACE_E_RANGE,
                              "trace buffer of %zu bytes: expected 64K to 1024M", size);
    gt_events_ring_size_set(size);
    return GT_TRACE_OK;
}

static int fixed(const char *what, struct gt_trace_error *error)
{
    if (!atomic_load(&gt_events_simple.fixed))
        return GT_TRACE_OK;
    return gt_events_fail(error, GT_TRACE_E_UNSUPPORTED,
                          "trace option %s: events have been recorded already", what);
}

int gt_trace_file_policy(enum gt_trace_policy policy, struct gt_trace_error *error)
{
    if ((int)policy == gt_events_simple.policy)
        return GT_TRACE_OK;
    int status = fixed("policy", error);
    if (!status)
        gt_events_simple.policy = (int)policy;
    gt_events_writer_wake(); /* it sleeps otherwise now */
    return status;
}

int gt_trace_file_threads(bool on, struct gt_trace_error *error)
{
    if (on == gt_events_simple.threads)
        return GT_TRACE_OK;
    int status = fixed("threads", error);
    if (status)
        return status;
    struct gt_trace_file_status file;
    gt_events_simple.threads = on;
    gt_trace_file_status(&file);
    return file.open ? gt_trace_file_set(file.path, error) : GT_TRACE_OK; /* its header says so */
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* An instruction that faults does so again, with the default action, and the core shows it. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    gt_events_writer_emergency_flush();
    bool again = info->si_code > 0 &&
                 (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
    if (!again)
        raise(number);
}

static void change_handler(int number, bool on)
{
    struct sigaction now, ours = {.sa_sigaction = on_crash,
                                  .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
    sigemptyset(&ours.sa_mask);
    if (sigaction(number, NULL, &now) != 0)
        return;
    if (on && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
    if (!on && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_crash)
        signal(number, SIG_DFL);
}

int gt_trace_file_crash(bool on, struct gt_trace_error *error)
{
    (void)error;
    for (int i = 0; i < SIGNALS; i++)
        change_handler(signals[i], on);
    return GT_TRACE_OK;
}
