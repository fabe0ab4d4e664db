/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log backend: each line is one write, to standard error or to a file that is opened for
 * appending, so that lines of threads, processes and signal handlers stay whole and in order;
 * optionally after "TID@SECONDS.MICROSECONDS:".
 *
 * The log file keeps its descriptor number, even when another file replaces it: so a thread that is
 * about to write never uses a number that is closed or belongs to another file.
 */
#include "events/library/control/registry.h"
#include "events/library/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file = -1;          /* the number that log files have */
static int to = STDERR_FILENO; /* it, or standard error */
static bool prefix;
static char name[PATH_MAX];   /* of the file; these two with the registry's lock held */
static _Atomic uint64_t lost; /* lines that are not reported yet */
static _Atomic int failed;    /* why */
static _Atomic bool torn;     /* the output ends within a line that could not be written */

static __thread __attribute__((tls_model("initial-exec"))) uint32_t thread; /* 0: not asked yet */

static uint32_t thread_id(void)
{
    if (!thread)
        thread = (uint32_t)syscall(SYS_gettid);
    return thread;
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
    *--line = ':';
    line = put_number_before(line, (unsigned long)now.tv_nsec / 1000, 6);
    *--line = '.';
    line = put_number_before(line, (unsigned long)now.tv_sec, 1);
    *--line = '@';
    return put_number_before(line, thread_id(), 1);
}

/* The rest of a line is lost: the next one begins anew. */
static void lose(int error, bool within_line)
{
    atomic_store(&failed, error);
    atomic_fetch_add(&lost, 1);
    if (within_line)
        atomic_store(&torn, true);
}

static long write_bytes(int fd, const char *at, size_t size)
{
    long n;
    do
        n = syscall(SYS_write, fd, at, size); /* no point of cancellation */
    while (n < 0 && errno == EINTR);
    return n;
}

/* A pipe or a full disk may take part of a line. */
static void write_line(int fd, const char *line, size_t size)
{
    if (atomic_exchange(&torn, false) && write_bytes(fd, "\n", 1) != 1)
        atomic_store(&torn, true);
    for (size_t done = 0; done < size;) {
        long n = write_bytes(fd, line + done, size - done);
        if (n < 0) {
            lose(errno, done > 0);
            return;
        }
        done += (size_t)n;
    }
}

void gt_events_log_line(char *line, size_t size)
{
    char *at = line;
    if (__atomic_load_n(&prefix, __ATOMIC_RELAXED))
        at = put_prefix_before(line);
    write_line(__atomic_load_n(&to, __ATOMIC_ACQUIRE), at, (size_t)(line + size - at));
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
    if (file < 0 || file == fd) { /* a new table of descriptors has the number again */
        file = fd;
    } else {
        dup3(fd, file, O_CLOEXEC);
        close(fd);
    }
    snprintf(name, sizeof name, "%s", path);
    atomic_store(&torn, false);
    __atomic_store_n(&to, file, __ATOMIC_RELEASE);
    return GT_TRACE_OK;
}

int gt_trace_log_set(const char *path, struct gt_trace_error *error)
{
    int status = GT_TRACE_OK;
    gt_events_lock();
    if (path) {
        status = take_file(path, error);
    } else {
        __atomic_store_n(&to, STDERR_FILENO, __ATOMIC_RELEASE);
    }
    gt_events_unlock();
    return status;
}

int gt_trace_log_flush(struct gt_trace_error *error)
{
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

static void in_child(void)
{
    thread = 0;
}

static void __attribute__((constructor(150))) prepare(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
