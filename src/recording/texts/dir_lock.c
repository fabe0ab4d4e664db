/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who writes a recording: see dir_lock.h. */
#include "recording/texts/dir_lock.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_ROOM = PATH_MAX + 64,
    TRIES = 100, /* others may make and remove locks at the same time, but not for ever */
    SLACK = 2,   /* seconds by which times of processes and files may differ */
    WAITS = 50,
    WAIT_MS = 10,
};

/* ---- processes ----------------------------------------------------------------------------- */

/* Seconds since 1970. */
static long long time_of(unsigned long long ticks)
{
    struct timespec now, up;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    return now.tv_sec - up.tv_sec + (long long)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* A process of that number has the pool: not one that began after the last change to it, when the
 * one that had it was dead. */
static bool owns(unsigned pid, const struct stat *pool)
{
    struct gt_file_process_stat stat;
    if (kill((pid_t)pid, 0) != 0 && errno != EPERM)
        return false;
    if (!gt_file_process_stat(pid, &stat))
        return true;
    return stat.state != 'Z' && stat.state != 'X' &&
           time_of(stat.began) <= pool->st_mtim.tv_sec + SLACK;
}

static bool is_pool(const char *name)
{
    return strncmp(name, ".guesttrace-", 12) == 0 && strstr(name, ".ring");
}

/* A pool's process that holds no lock was killed, or executes another program, which may be
 * recorded as well. */
static bool lives(int dir, const char *name)
{
    unsigned pid;
    struct stat st;
    return is_pool(name) && sscanf(name, ".guesttrace-%u", &pid) == 1 && pid > 1 &&
           pid != (unsigned)getpid() && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           owns(pid, &st);
}

static bool any_pool(const char *path, bool living)
{
    bool any = false;
    DIR *d = opendir(path);
    for (const struct dirent *e; d && !any && (e = readdir(d));)
        any = living ? lives(dirfd(d), e->d_name) : is_pool(e->d_name);
    if (d)
        closedir(d);
    return any;
}

bool gt_recording_dir_lock_has_pool(const char *dir)
{
    return any_pool(dir, false);
}

/* ---- locks --------------------------------------------------------------------------------- */

static int lock(int fd, int how)
{
    int failed;
    do
        failed = flock(fd, how);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

/* 0 also where there are no locks. */
static int lock_if_any(int fd, int how)
{
    return lock(fd, how) == EWOULDBLOCK ? EWOULDBLOCK : 0;
}

static const char *inside(const char *dir, const char *ending, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s/" GT_DIR_LOCK_FILE "%s", dir, ending);
    return out;
}

static int fail(int *fd, struct gt_error *err, int e, const char *path)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return gt_error_errno(err, e, "%s", path);
}

static int busy(int *fd, const char *name, struct gt_error *err)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return gt_error_set(err, GT_E_BUSY,
                        "%s: another process records into it or changes it; wait until that has "
                        "ended, or name another",
                        name);
}

/* It has not been removed, nor made anew. */
static bool is_current(int fd, const char *path)
{
    struct stat own, named;
    return fstat(fd, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

int gt_recording_dir_lock_share(const char *dir, int *fd, struct gt_error *err)
{
    char path[PATH_ROOM];
    *fd = open(inside(dir, "", path), O_RDONLY | O_CLOEXEC);
    int e = *fd < 0 ? errno : lock_if_any(*fd, LOCK_SH);
    if (!e && !is_current(*fd, path))
        e = ENOENT;
    return e ? fail(fd, err, e, path) : 0;
}

static int hold_alone(const char *dir, const char *name, int *fd, struct gt_error *err)
{
    char path[PATH_ROOM];
    *fd = open(inside(dir, "", path), O_RDONLY | O_CLOEXEC);
    int e = *fd < 0 ? errno : lock_if_any(*fd, LOCK_EX | LOCK_NB);
    if (!e && !is_current(*fd, path))
        e = ENOENT;
    if (e == EWOULDBLOCK || (!e && any_pool(dir, true)))
        return busy(fd, name, err);
    return e ? fail(fd, err, e, path) : 0;
}

/* One that was just killed is there for another moment. */
int gt_recording_dir_lock_alone(const char *dir, const char *name, int *fd, struct gt_error *err)
{
    int status = hold_alone(dir, name, fd, err);
    for (int tries = 0; status == GT_E_BUSY && tries < WAITS; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = WAIT_MS * 1000000}, NULL);
        status = hold_alone(dir, name, fd, err);
    }
    return status;
}

bool gt_recording_dir_lock_is_last(const char *dir, int fd)
{
    return fd >= 0 && lock(fd, LOCK_EX | LOCK_NB) == 0 && !any_pool(dir, true);
}

bool gt_recording_dir_lock_is_there(const char *dir)
{
    char path[PATH_ROOM];
    return access(inside(dir, "", path), F_OK) == 0;
}

void gt_recording_dir_lock_remove(const char *dir)
{
    char path[PATH_ROOM];
    unlink(inside(dir, "", path));
}

/* ---- making -------------------------------------------------------------------------------- */

/* Removes a lock that is not held. */
static int remove_left(const char *dir, const char *name, struct gt_error *err)
{
    int fd, status = gt_recording_dir_lock_alone(dir, name, &fd, err);
    if (status == 0) {
        gt_recording_dir_lock_remove(dir);
        close(fd);
    }
    return status == GT_E_NOT_FOUND ? 0 : status;
}

int gt_recording_dir_lock_make(const char *dir, const char *name, int *fd, struct gt_error *err)
{
    char ending[32], own[PATH_ROOM], path[PATH_ROOM];
    snprintf(ending, sizeof ending, ".%d", (int)getpid());
    inside(dir, ending, own);
    inside(dir, "", path);
    unlink(own); /* of a process of this number that was killed */
    *fd = open(own, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    int e = *fd < 0 ? errno : lock_if_any(*fd, LOCK_SH), status = 0;
    if (!e)
        e = gt_file_move_new(own, path);
    for (int tries = 0; e == EEXIST && status == 0 && tries < TRIES; tries++) {
        status = remove_left(dir, name, err);
        e = status == 0 ? gt_file_move_new(own, path) : e;
    }
    if (e && *fd >= 0)
        unlink(own);
    if (status < 0) {
        close(*fd);
        *fd = -1;
        return status;
    }
    return e == EEXIST ? busy(fd, name, err) : e ? fail(fd, err, e, path) : 0;
}
