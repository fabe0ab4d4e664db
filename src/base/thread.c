/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that a foreign process does not notice: see thread.h. */
#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    UNSHARE_TABLE = 1 << 1, /* CLOSE_RANGE_UNSHARE, which older headers lack */
    DESCRIPTORS_WITHOUT_PROC = 65536,
    FEW_DESCRIPTORS = 8, /* with three that cannot be used */
};

static __thread bool filled; /* 0, 1 and 2 are taken by descriptors that cannot be used */

static int sys_close_range(unsigned first, unsigned last, int flags)
{
#ifdef SYS_close_range
    return (int)syscall(SYS_close_range, first, last, flags);
#else
    (void)first, (void)last, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

int gt_thread_root = -1;

void gt_thread_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

struct gt_thread_sys gt_thread_sys = {.close_range = sys_close_range, .unshare = unshare};

void gt_thread_lower_priority(void)
{
    enum { NICE = 10 };
    const struct sched_param none = {0};
    (void)sched_setscheduler(0, SCHED_BATCH, &none); /* it may have a real-time priority */
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
}

bool gt_thread_addresses_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* A thread that allocates gets an arena of 64 MiB of addresses from glibc. Where addresses are
 * limited (RLIMIT_AS) they are the process's, which asks for some later. */
static void spare_addresses(void)
{
    if (gt_thread_addresses_limited())
        mallopt(M_ARENA_MAX, 1);
}

int gt_thread_start(pthread_t *out, size_t stack, void *(*fn)(void *), void *arg)
{
    pthread_attr_t attr;
    spare_addresses();
    int e = pthread_attr_init(&attr);
    if (e)
        return e;
    e = pthread_attr_setstacksize(&attr, stack);
    sigset_t all, old;
    sigfillset(&all);
    if (!e)
        e = pthread_sigmask(SIG_SETMASK, &all, &old);
    if (!e) {
        e = pthread_create(out, &attr, fn, arg);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attr);
    if (!e)
        pthread_setname_np(*out, "guesttrace");
    return e;
}

static void close_without_proc(void)
{
    struct rlimit limit = {.rlim_cur = DESCRIPTORS_WITHOUT_PROC};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur > DESCRIPTORS_WITHOUT_PROC)
        limit.rlim_cur = DESCRIPTORS_WITHOUT_PROC;
    for (int fd = 0; fd < (int)limit.rlim_cur; fd++)
        close(fd);
}

/* After unshare(): closes what the copied table holds. */
static void close_all(void)
{
    DIR *d = opendir("/proc/thread-self/fd"); /* /proc/self/fd would list the process's table */
    if (!d) {
        close_without_proc();
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char *end;
        long fd = strtol(e->d_name, &end, 10);
        if (end != e->d_name && !*end && fd != dirfd(d))
            close((int)fd);
    }
    closedir(d);
}

/* The first thread's umask, before a guest runs, is the user's: later ones take it too. */
static void own_surroundings(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool known;
    static mode_t first;
    if (gt_thread_sys.unshare(CLONE_FS) != 0)
        return;
    if (gt_thread_root >= 0 && fchdir(gt_thread_root) == 0)
        (void)!chroot(".");
    pthread_mutex_lock(&lock);
    mode_t now = umask(first);
    if (!known)
        first = now;
    known = true;
    umask(first);
    pthread_mutex_unlock(&lock);
}

static bool may_have_few(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FEW_DESCRIPTORS;
}

bool gt_thread_own_files(void)
{
    own_surroundings();
    if (gt_thread_sys.close_range(0, ~0U, UNSHARE_TABLE) != 0) {
        if (gt_thread_sys.unshare(CLONE_FILES) != 0)
            return false;
        close_all();
    }
    filled = !may_have_few();
    for (int fd = 0; fd < 3 && filled; fd++) {
        if (open("/", O_PATH | O_CLOEXEC) < 0)
            break;
    }
    return true;
}

void gt_thread_make_room(void)
{
    if (!filled || !may_have_few())
        return;
    filled = false;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFL) >= 0 && fcntl(fd, F_GETFL) & O_PATH)
            close(fd);
}

bool gt_thread_enter(int dirfd)
{
    return gt_thread_sys.unshare(CLONE_FS) == 0 && fchdir(dirfd) == 0;
}

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool gt_thread_membarrier_exists(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

bool gt_thread_membarrier_prepare(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool gt_thread_membarrier(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
