/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into QEMU: calls of the tracer's threads fail.
 *
 * FAULTY is a list, separated by spaces, of CALL,AFTER,ERRNO,NAME: CALL fails with ERRNO after it
 * has succeeded AFTER times on files whose path ends with NAME. CALL "short" is a pwritev or write
 * that writes only part. FAULTY_FOR: how often each fails, without end where it is not given.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int calls[16];

static bool is_ours(void)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return strcmp(name, "guesttrace") == 0;
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

/* An errno value, or 0. */
static int fault(const char *call, const char *path)
{
    const char *rules = getenv("FAULTY"), *times = getenv("FAULTY_FOR");
    char name[32], end[64];
    int after, errnum, used;
    for (int i = 0; rules && i < 16; i++) {
        if (sscanf(rules, " %31[^,],%d,%d,%63s%n", name, &after, &errnum, end, &used) < 4)
            return 0;
        rules += used;
        if (strcmp(name, call) != 0 || !ends_with(path, end))
            continue;
        int n = atomic_fetch_add(&calls[i], 1);
        if (n >= after && (!times || n < after + atoi(times)))
            return errnum;
    }
    return 0;
}

static int fault_fd(const char *call, int fd)
{
    char link[64], path[4096];
    if (!is_ours())
        return 0;
    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return fault(call, path);
}

#define FAIL_FD(call, fd)                                                                          \
    do {                                                                                           \
        errno = fault_fd(call, fd);                                                                \
        if (errno)                                                                                 \
            return -1;                                                                             \
    } while (0)

ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
    FAIL_FD("pwritev", fd);
    if (fault_fd("short", fd)) {
        struct iovec part = {iov[0].iov_base, iov[0].iov_len > 21 ? 21 : 1};
        return REAL(pwritev)(fd, &part, 1, offset);
    }
    return REAL(pwritev)(fd, iov, n, offset);
}

ssize_t write(int fd, const void *data, size_t n)
{
    FAIL_FD("write", fd);
    return REAL(write)(fd, data, n > 21 && fault_fd("short", fd) ? 21 : n);
}

int ftruncate(int fd, off_t size)
{
    FAIL_FD("ftruncate", fd);
    return REAL(ftruncate)(fd, size);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
    FAIL_FD("fallocate", fd);
    return REAL(fallocate)(fd, mode, at, size);
}

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    errno = fd >= 0 ? fault_fd("mmap", fd) : is_ours() ? fault("mmap", "anonymous") : 0;
    if (errno)
        return MAP_FAILED;
    return REAL(mmap)(at, size, prot, flags, fd, offset);
}

int madvise(void *at, size_t size, int advice)
{
    errno = is_ours() ? fault("madvise", "") : 0;
    return errno ? -1 : REAL(madvise)(at, size, advice);
}

int rename(const char *from, const char *to)
{
    errno = is_ours() ? fault("rename", to) : 0;
    return errno ? -1 : REAL(rename)(from, to);
}

static int open_mode(int flags, va_list ap)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0;
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int mode = open_mode(flags, ap);
    va_end(ap);
    errno = is_ours() ? fault("openat", path) : 0;
    return errno ? -1 : REAL(openat)(dir, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int mode = open_mode(flags, ap);
    va_end(ap);
    errno = is_ours() ? fault("open", path) : 0;
    return errno ? -1 : REAL(open)(path, flags, mode);
}

/* The names that a build with 64-bit file offsets calls: the same functions here. */
#define ALSO(name, type, arguments) type name##64 arguments __attribute__((alias(#name)))
ALSO(pwritev, ssize_t, (int, const struct iovec *, int, off_t));
ALSO(ftruncate, int, (int, off_t));
ALSO(fallocate, int, (int, int, off_t, off_t));
ALSO(mmap, void *, (void *, size_t, int, int, int, off_t));
ALSO(openat, int, (int, const char *, int, ...));
ALSO(open, int, (const char *, int, ...));
