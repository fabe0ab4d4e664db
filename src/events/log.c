/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log backend: lines to standard error, each by a write, or to a file, where those of a burst
 * are gathered (gather.h); optionally behind "TID@SECONDS.MICROSECONDS:".
 *
 * The log file keeps its descriptor number once it has one, also while another file takes its
 * place: a thread that is about to write never meets a number that is closed or somebody else's.
 */
#include "events/gather.h"
#include "events/registry.h"
#include "events/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file = -1;          /* the number that log files have */
static int to = STDERR_FILENO; /* it, or standard error */
static bool prefix;
static bool gathers = true;   /* where it may be */
static char name[PATH_MAX];   /* of the file; these two with the registry's lock held */
static _Atomic uint64_t lost; /* lines, and not told yet */
static _Atomic int failed;    /* why */

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
    *--line = ':';
    line = put_number_before(line, (unsigned long)now.tv_nsec / 1000, 6);
    *--line = '.';
    line = put_number_before(line, (unsigned long)now.tv_sec, 1);
    *--line = '@';
    return put_number_before(line, gt_events_thread_id(), 1);
}

static void lose(const char *at, const char *end, int error)
{
    uint64_t lines = 0;
    for (; at < end; at++)
        lines += *at == '\n';
    atomic_store(&failed, error);
    atomic_fetch_add(&lost, lines);
}

size_t gt_events_log_write(int fd, const char *at, size_t size)
{
    const char *end = at + size;
    while (at < end) {
        long n = syscall(SYS_write, fd, at, (size_t)(end - at)); /* no point of cancellation */
        if (n < 0 && errno != EINTR) {
            lose(at, end, errno);
            break;
        }
        at += n > 0 ? n : 0;
    }
    return (size_t)(end - at);
}

void gt_events_log_line(char *line, size_t size)
{
    const char *at = line, *end = line + size;
    if (__atomic_load_n(&prefix, __ATOMIC_RELAXED))
        at = put_prefix_before(line);
    if (!gt_events_gather_line(at, (size_t)(end - at)))
        gt_events_log_write(__atomic_load_n(&to, __ATOMIC_ACQUIRE), at, (size_t)(end - at));
}

/* Who sits at a terminal wants each line. */
static void gather_again(void)
{
    if (gathers && to == file && !isatty(file))
        gt_events_gather_start(file);
}

/* Above the standard ones: what a program prints does not get into a log if they are closed. */
static int open_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), e = errno;
    close(fd);
    errno = e;
    return higher;
}

static int take_file(const char *path, struct gt_trace_error *error)
{
    int fd = open_log(path);
    if (fd < 0)
        return gt_events_fail_errno(error, errno, "%s: cannot be opened for the log", path);
    gt_events_gather_stop();
    if (file < 0) {
        file = fd;
    } else {
        dup3(fd, file, O_CLOEXEC);
        close(fd);
    }
    snprintf(name, sizeof name, "%s", path);
    __atomic_store_n(&to, file, __ATOMIC_RELEASE);
    gather_again();
    return GT_TRACE_OK;
}

int gt_trace_log_set(const char *path, struct gt_trace_error *error)
{
    int status = GT_TRACE_OK;
    gt_events_lock();
    if (path) {
        status = take_file(path, error);
    } else {
        gt_events_gather_stop();
        __atomic_store_n(&to, STDERR_FILENO, __ATOMIC_RELEASE);
    }
    gt_events_unlock();
    return status;
}

void gt_trace_log_gather(bool on)
{
    gt_events_lock();
    gathers = on;
    gt_events_gather_stop();
    gather_again();
    gt_events_unlock();
}

int gt_trace_log_flush(struct gt_trace_error *error)
{
    gt_events_gather_flush();
    gt_events_lock();
    uint64_t lines = atomic_exchange(&lost, 0);
    int status = lines ? gt_events_fail_errno(error, atomic_load(&failed),
                                              "%s: cannot be written, %llu lines are lost",
                                              to == file ? name : "standard error",
                                              (unsigned long long)lines)
                       : GT_TRACE_OK;
    gt_events_unlock();
    return status;
}

void gt_trace_log_prefix(bool on)
{
    __atomic_store_n(&prefix, on, __ATOMIC_RELAXED);
}
