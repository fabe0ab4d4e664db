/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes system calls and prints each, between calls of access("/begin") and access("/end"); threads
 * make some whose arguments nobody else has. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 100, THREADS = 3, EACH = 50 };

static char line[LINES][400];
static int lines;
static char buffer[4096], data[] = "four\0more";
static struct timespec times, none;
static struct rlimit limits[2];

/* The result of a raw system call of Linux. */
static long result(long r)
{
    return r == -1 ? -errno : r;
}

#define CALL(name, format, ...)                                                                    \
    (__extension__({                                                                               \
        char *to = line[lines++];                                                                  \
        long r = result(syscall(SYS_##name, __VA_ARGS__));                                         \
        snprintf(to, sizeof line[0], #name "(" format ") = %ld", __VA_ARGS__, r);                  \
        r;                                                                                         \
    }))

static void on_signal(int sig)
{
    CALL(lseek, "%d, %ld, %d", -sig, 7L, SEEK_END);
}

static __attribute__((noinline)) void files(void)
{
    long fd = CALL(openat, "%d, \"%s\", %d, %d", AT_FDCWD, "out", O_RDWR | O_CREAT | O_TRUNC, 0640);
    CALL(write, "%ld, \"%s\", %lu", fd, "twelve bytes", 12ul);
    CALL(lseek, "%ld, %ld, %d", fd, -5L, SEEK_END);
    CALL(read, "%ld, %p, %lu", fd, buffer, 100ul);
    CALL(ftruncate, "%ld, %ld", fd, 70000L);
    CALL(fcntl, "%ld, %d, %ld", fd, F_GETFL, 0L);
    CALL(dup, "%ld", fd);
    CALL(fchmod, "%ld, %d", fd, 0600);
    CALL(fsync, "%ld", fd);
    CALL(ioctl, "%ld, %u, %p", fd, 0x5401u, buffer);
    CALL(close, "%ld", fd);
    CALL(close, "%d", -3);
    CALL(openat, "%d, \"%s\", %d, %d", AT_FDCWD, "no/such/file", O_DIRECTORY | O_CLOEXEC, 0);
    CALL(openat, "%d, \"%s\", %d, %d", 77, "", O_NOFOLLOW, 0);
    CALL(mkdirat, "%d, \"%s\", %d", AT_FDCWD, "folder", 0700);
    CALL(linkat, "%d, \"%s\", %d, \"%s\", %d", AT_FDCWD, "out", AT_FDCWD, "folder/link", 0);
    CALL(unlinkat, "%d, \"%s\", %d", AT_FDCWD, "folder/link", 0);
    CALL(unlinkat, "%d, \"%s\", %d", AT_FDCWD, "folder", AT_REMOVEDIR);
    CALL(symlinkat, "\"%s\", %d, \"%s\"", "a target", AT_FDCWD, "link");
    CALL(readlinkat, "%d, \"%s\", %p, %lu", AT_FDCWD, "link", buffer, 90ul);
    CALL(unlinkat, "%d, \"%s\", %d", AT_FDCWD, "link", 0);
    CALL(chdir, "\"%s\"", "/");
    CALL(getcwd, "%p, %lu", buffer, 4096ul);
    CALL(umask, "%d", 022);
}

#if __SIZEOF_POINTER__ == 8
static void wide(void)
{
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY, 0);
    CALL(pread64, "%ld, %p, %lu, %ld", fd, buffer, 16ul, 1L << 33);
    CALL(mmap, "%p, %lu, %d, %d, %d, %ld", (void *)0, 8192ul, PROT_READ, MAP_PRIVATE, 999, 0L);
    close((int)fd);
}
#else
/* Two registers, one value. */
static void wide(void)
{
    int fd = open("/proc/self/exe", O_RDONLY);
    snprintf(line[lines++], sizeof line[0], "pread64(%d, %p, 16, %lld) = %ld", fd, (void *)buffer,
             1LL << 33, result(syscall(SYS_pread64, fd, buffer, 16, 0, 2)));
    close(fd);
}
#endif

static void others(void)
{
    static int fds[2];
    CALL(mprotect, "%p, %lu, %d", (void *)4096, 4096ul, PROT_READ | PROT_WRITE);
    CALL(munmap, "%p, %lu", (void *)1, 4096ul);
    CALL(madvise, "%p, %lu, %d", (void *)0x10000000, 0ul, MADV_DONTNEED);
    CALL(clock_gettime, "%d, %p", CLOCK_MONOTONIC, (void *)&times);
    CALL(nanosleep, "%p, %p", (void *)&none, (void *)0);
    CALL(prlimit64, "%d, %d, %p, %p", 0, RLIMIT_NOFILE, (void *)0, (void *)limits);
    CALL(getrandom, "%p, %lu, %d", buffer, 5ul, 1);
    CALL(kill, "%d, %d", 0, 0);
    CALL(socket, "%d, %d, %d", AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CALL(sendto, "%d, \"%s\", %lu, %d, %p, %d", -1, "a message", 9ul, MSG_NOSIGNAL, (void *)0, 0);
    CALL(pipe2, "%p, %d", (void *)fds, O_NONBLOCK);
    CALL(write, "%d, \"%s\", %lu", fds[1], "", 0ul);
    CALL(futex, "%p, %d, %d, %p, %p, %d", (void *)buffer, 129, 1, (void *)0, (void *)0, 0);
    CALL(write, "%d, <%p>, %lu", fds[1], (void *)8, 4ul);
    CALL(chdir, "<%p>", (void *)16);
    CALL(setpgid, "%d, %d", -7, -8);
}

static void *many(void *arg)
{
    long first = 100000 * (1 + (long)arg);
    for (int i = 0; i < EACH; i++)
        syscall(SYS_lseek, -first - i, 0L, SEEK_CUR);
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int status;
    signal(SIGUSR1, on_signal);
    syscall(SYS_faccessat, AT_FDCWD, "/begin", 0);
    files();
    wide();
    others();
    CALL(tkill, "%ld, %d", (long)syscall(SYS_gettid), SIGUSR1);
    syscall(SYS_faccessat, AT_FDCWD, "/end", 0);
    /* A buffer with a NUL, which is not printed. */
    syscall(SYS_write, -1, data, sizeof data);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, many, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pid_t child = fork();
    if (!child) {
        syscall(SYS_lseek, -900, 0L, SEEK_CUR);
        _exit(3);
    }
    waitpid(child, &status, 0);
    for (int i = 0; i < lines; i++)
        puts(line[i]);
    return 0;
}
