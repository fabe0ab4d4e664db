/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unix sockets by path: see socket.h.
 *
 * A stale socket is renamed before it is removed, and checked again under the new name: so of two
 * processes that start at the same time, neither removes the socket that the other has just made.
 */
#include "base/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { FILES = 8, BACKLOG = 8 };
enum { FREE, TAKEN, BOUND }; /* a file's state: BOUND before anybody listens */

/* ---- addresses --------------------------------------------------------------------------------
 */

int gt_socket_check_path(const char *path, struct gt_error *err)
{
    size_t most = sizeof((struct sockaddr_un *)NULL)->sun_path - 1, n = strlen(path);
    if (n == 0)
        return gt_error_set(err, GT_E_USAGE, "expected a socket's path");
    if (n > most)
        return gt_error_set(err, GT_E_RANGE,
                            "%.300s: a socket's path has at most %zu bytes, this one has %zu", path,
                            most, n);
    return 0;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, strlen(path) + 1); /* its length was seen to fit */
    return a;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int gt_socket_connect(const char *path)
{
    struct sockaddr_un a = address_of(path);
    int fd = new_socket();
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    int e = errno;
    if (fd >= 0)
        close(fd);
    return -e;
}

/* ---- files that are removed at the end --------------------------------------------------------
 */

/* Where signal handlers find them: never freed. */
static struct gt_socket_file {
    int state; /* of what follows; atomic */
    pid_t pid; /* whose it is: not a forked child's */
    dev_t device;
    ino_t inode;
    char path[PATH_MAX]; /* absolute: the process may change its directory */
} files[FILES];

static struct gt_socket_file *take_file(const char *path, struct gt_error *err)
{
    size_t i = 0;
    for (int was = FREE; i < FILES; i++, was = FREE)
        if (__atomic_compare_exchange_n(&files[i].state, &was, TAKEN, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            break;
    if (i == FILES) {
        gt_error_set(err, GT_E_RANGE, "%s: more than %d listening sockets", path, FILES);
        return NULL;
    }
    files[i].pid = getpid();
    char here[PATH_MAX];
    bool relative = path[0] != '/' && getcwd(here, sizeof here);
    size_t n = (size_t)snprintf(files[i].path, PATH_MAX, "%s%s%s", relative ? here : "",
                                relative ? "/" : "", path);
    if (n >= PATH_MAX)
        files[i].path[0] = '\0'; /* then it stays */
    return &files[i];
}

static void free_file(struct gt_socket_file *f)
{
    __atomic_store_n(&f->state, FREE, __ATOMIC_RELEASE);
}

/* A socket of this user's without a listener. */
static bool is_dead(const char *path, const struct stat *st)
{
    int fd = S_ISSOCK(st->st_mode) && st->st_uid == geteuid() ? gt_socket_connect(path) : -EACCES;
    if (fd >= 0)
        close(fd);
    return fd == -ECONNREFUSED;
}

static bool is_ours(const struct gt_socket_file *f, const struct stat *st)
{
    int state = __atomic_load_n(&f->state, __ATOMIC_ACQUIRE);
    if (state == FREE || f->pid != getpid())
        return false;
    return state == BOUND ? st->st_dev == f->device && st->st_ino == f->inode
                          : is_dead(f->path, st);
}

/* In a signal handler, too, and while it is being bound. */
static void remove_file(const struct gt_socket_file *f)
{
    struct stat now;
    if (lstat(f->path, &now) == 0 && is_ours(f, &now))
        unlink(f->path);
}

void gt_socket_listeners_remove(void)
{
    for (size_t i = 0; i < FILES; i++)
        remove_file(&files[i]);
}

static void remove_and_die(int signal)
{
    gt_socket_listeners_remove();
    raise(signal); /* the handler was for one time */
}

static bool watches_signals;

void gt_socket_listeners_watch_signals(void)
{
    watches_signals = true;
}

static void watch_signals(void)
{
    static const int fatal[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction ours = {.sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND}, now;
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(fatal[i], &ours, NULL);
}

/* ---- listening --------------------------------------------------------------------------------
 */

/* Removes the dead socket that `seen` is. */
static int remove_dead(const char *path, const struct stat *seen, struct gt_error *err)
{
    char aside[PATH_MAX];
    struct stat st;
    snprintf(aside, sizeof aside, "%s.%ld.dead", path, (long)getpid());
    if (renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) != 0)
        return errno == ENOENT
                   ? 0
                   : gt_error_errno(err, errno,
                                    "%s: no process listens there, and it cannot be removed", path);
    if (lstat(aside, &st) == 0 && st.st_dev == seen->st_dev && st.st_ino == seen->st_ino) {
        unlink(aside);
        return 0;
    }
    renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_NOREPLACE);
    return gt_error_set(err, GT_E_EXISTS, "%s: another process took it just now", path);
}

/* Removes a file at the path, if it is a socket of this user's without a listener. */
static int clear_path(const char *path, struct gt_error *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : gt_error_errno(err, errno, "%s", path);
    if (!S_ISSOCK(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s: exists and is not a socket", path);
    if (st.st_uid != geteuid())
        return gt_error_set(err, GT_E_EXISTS, "%s: is another user's socket", path);
    if (!is_dead(path, &st))
        return gt_error_set(err, GT_E_EXISTS, "%s: another process is listening there", path);
    return remove_dead(path, &st, err);
}

static int bind_to(int fd, const char *path, struct gt_error *err)
{
    struct sockaddr_un a = address_of(path);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return 0;
    if (errno == EADDRINUSE) {
        int status = clear_path(path, err);
        if (status < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) == 0)
            return status;
    }
    return gt_error_errno(err, errno, "%s: cannot be listened at", path);
}

static int listen_at(struct gt_socket_listener *l, const char *path, struct gt_error *err)
{
    struct stat st;
    l->fd = new_socket();
    if (l->fd < 0 || fchmod(l->fd, 0600) != 0) /* the file gets the socket's mode, at once */
        return gt_error_errno(err, errno, "%s: a socket cannot be made", path);
    int status = bind_to(l->fd, path, err);
    if (status < 0)
        return status;
    if (lstat(path, &st) == 0) {
        l->file->device = st.st_dev;
        l->file->inode = st.st_ino;
        __atomic_store_n(&l->file->state, BOUND, __ATOMIC_RELEASE);
    }
    if (listen(l->fd, BACKLOG) != 0)
        return gt_error_errno(err, errno, "%s: cannot be listened at", path);
    return 0;
}

int gt_socket_listener_open(struct gt_socket_listener *l, const char *path, struct gt_error *err)
{
    *l = (struct gt_socket_listener){.fd = -1, .file = take_file(path, err)};
    if (!l->file)
        return GT_E_RANGE;
    if (watches_signals)
        watch_signals();
    int status = listen_at(l, path, err);
    if (status == 0)
        return 0;
    if (l->fd < 0)
        free_file(l->file);
    gt_socket_listener_close(l);
    return status;
}

int gt_socket_listener_connect_or_open(struct gt_socket_listener *l, int *fd, const char *path,
                                       struct gt_error *err)
{
    int status = 0;
    l->fd = -1;
    for (int tries = 0; tries < 2; tries++) {
        *fd = gt_socket_connect(path);
        if (*fd >= 0)
            return 0;
        if (*fd != -ECONNREFUSED && *fd != -ENOENT)
            status = gt_error_errno(err, -*fd, "%s: cannot be connected to", path);
        else
            status = gt_socket_listener_open(l, path, err);
        *fd = -1;
        if (status != GT_E_EXISTS) /* else another one may just have begun to listen */
            break;
    }
    return status;
}

int gt_socket_listener_accept(const struct gt_socket_listener *l)
{
    return l->fd < 0 ? -1 : accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

void gt_socket_listener_close(struct gt_socket_listener *l)
{
    if (l->fd < 0)
        return;
    remove_file(l->file);
    free_file(l->file);
    close(l->fd);
    l->fd = -1;
}
