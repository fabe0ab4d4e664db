/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stopping a program's other threads at its end: see program_end.h. */
#include "qemu/program_end.h"

#include "base/clock.h"
#include "base/file.h"
#include "qemu/host.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The process that ends, and the thread by which it does; 0: none; atomic. A child that was forked
 * meanwhile goes on. */
static uint64_t ending;

static uint64_t this_thread(void)
{
    return (uint64_t)(uint32_t)getpid() << 32 | (uint32_t)gettid();
}

static bool another_ends(void)
{
    uint64_t by = __atomic_load_n(&ending, __ATOMIC_ACQUIRE);
    return __builtin_expect(by != 0, 0) && by != this_thread() && by >> 32 == this_thread() >> 32;
}

static void stop(void)
{
    for (;;)
        pause();
}

void gt_qemu_program_end_check(void)
{
    if (another_ends())
        stop();
}

/* ---- the other threads --------------------------------------------------------------------- */

enum {
    ENOUGH_NS = 100000, /* of a processor: what a thread needs to come to its callback */
    PAUSE_NS = 100000,  /* between two looks */
    LONGEST_MS = 1000,  /* for all threads: a busy machine gives each its turn by then */
};

static bool is_runnable(const char *tid)
{
    struct gt_file_process_stat stat;
    return gt_file_process_stat((unsigned)strtoul(tid, NULL, 10), &stat) && stat.state == 'R';
}

/* In ns; 0: the kernel does not say. */
static uint64_t run_time(const char *tid)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strtoull(text, NULL, 10);
}

/* A thread that waits is in the kernel, or is stopped. One that runs is so, too, soon; or it runs
 * code, where QEMU stops it before it frees anything. */
static void let_run(const char *tid, uint64_t until)
{
    uint64_t begin = run_time(tid);
    while (is_runnable(tid) && gt_base_clock_monotonic() < until) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        if (!begin || run_time(tid) - begin >= ENOUGH_NS)
            return;
    }
}

/* False: this process ends already, by another thread or this one. */
static bool begins(void)
{
    uint64_t none = 0;
    return __atomic_compare_exchange_n(&ending, &none, this_thread(), false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST) ||
           none >> 32 != this_thread() >> 32;
}

static void stop_others(void)
{
    DIR *threads = opendir("/proc/self/task");
    if (!threads)
        return;
    uint64_t until = gt_base_clock_monotonic() + LONGEST_MS * UINT64_C(1000000);
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;)
        if (strtol(entry->d_name, NULL, 10) != gettid())
            let_run(entry->d_name, until);
    closedir(threads);
}

void gt_host_program_ends(void)
{
    if (begins())
        stop_others();
    else
        gt_qemu_program_end_check();
}

/* Not stopped where another thread was first: that one would wait for this one for ever, which has
 * stopped all that run. */
void gt_qemu_program_end_by_signal(void)
{
    if (begins())
        stop_others();
}

/* ---- a thread that was not stopped --------------------------------------------------------- */

static uint64_t exited; /* the process, and the thread that had the exit event; atomic */

void gt_qemu_program_end_exited(void)
{
    __atomic_store_n(&exited, this_thread(), __ATOMIC_RELEASE);
}

void gt_qemu_program_end_let_exit(void)
{
    if (__atomic_load_n(&exited, __ATOMIC_ACQUIRE) == this_thread())
        return;
    uint64_t until = gt_base_clock_monotonic() + LONGEST_MS * UINT64_C(1000000);
    while (gt_base_clock_monotonic() < until)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}
