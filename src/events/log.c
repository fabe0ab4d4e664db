/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log backend: a line a write, to standard error or a file, optionally behind
 * "TID@SECONDS.MICROSECONDS:".
 *
 * The log file keeps its descriptor number once it has one, also while another file takes its
 * place: a thread that is about to write never meets a number that is closed or somebody else's.
 */
#include "events/registry.h"
#include "events/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file = -1;          /* the number that log files have */
static int to = STDERR_FILENO; /* it, or standard error */
static bool prefix;
static __thread __attribute__((tls_model("initial-exec"))) long thread; /* 0: not asked yet */

static void forget_thread(void)
{
    thread = 0;
}

static void __attribute__((constructor(150))) prepare_fork(void)
{
    pthread_atfork(NULL, NULL, forget_thread);
}

static char *put_number_before(char *end, unsigned long v, int digits)
{
    for (; digits > 0 || v; digits--) {
        *--end = (char)('0' + v % 10);
        v /= 10;
    }
    return end;
}

static char *put_prefix_before(char *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!thread)
        thread = syscall(SYS_gettid);
    *--line = ':';
    line = put_number_before(line, (unsigned long)now.tv_nsec / 1000, 6);
    *--line = '.';
    line = put_number_before(line, (unsigned long)now.tv_sec, 1);
    *--line = '@';
    return put_number_before(line, (unsigned long)thread, 1);
}

void gt_events_log_line(char *line, size_t size)
{
    const char *at = line, *end = line + size;
    if (__atomic_load_n(&prefix, __ATOMIC_RELAXED))
        at = put_prefix_before(line);
    int fd = __atomic_load_n(&to, __ATOMIC_ACQUIRE);
    while (at < end) {
        long n = syscall(SYS_write, fd, at, (size_t)(end - at)); /* no point of cancellation */
        if (n < 0 && errno != EINTR)
            return;
        at += n > 0 ? n : 0;
    }
}

static int take_file(const char *path, struct gt_trace_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0)
        return gt_events_fail_errno(error, errno, "%s: cannot be opened for the log", path);
    if (file < 0) {
        file = fd;
    } else {
        dup3(fd, file, O_CLOEXEC);
        close(fd);
    }
    __atomic_store_n(&to, file, __ATOMIC_RELEASE);
    return GT_TRACE_OK;
}

int gt_trace_log_set(const char *path, struct gt_trace_error *error)
{
    int status = GT_TRACE_OK;
    gt_events_lock();
    if (path)
        status = take_file(path, error);
    else
        __atomic_store_n(&to, STDERR_FILENO, __ATOMIC_RELEASE);
    gt_events_unlock();
    return status;
}

void gt_trace_log_prefix(bool on)
{
    __atomic_store_n(&prefix, on, __ATOMIC_RELAXED);
}
