/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output file of a command, and the process that writes it: see output_file.h. */
#include "cli/output_file.h"

#include "base/file.h"
#include "calls/file/work.h"
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The way to a file without a name. */
static char *way_to(int fd)
{
    return g_strdup_printf("/proc/self/fd/%d", fd);
}

static bool give_name(int fd, const char *name)
{
    g_autofree char *way = way_to(fd);
    return linkat(AT_FDCWD, way, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

static int open_without_name(const char *folder)
{
    return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

/* A file that has no name until it is complete: of a process that is killed nothing stays. -1: the
 * file system has no such files, or cannot name one later: another one, which gets the name and
 * loses it, shows that. */
static int open_unnamed(const char *folder, const char *tmp)
{
    const int trial = open_without_name(folder);
    if (trial < 0)
        return -1;
    unlink(tmp); /* of a process of this number that was killed */
    const bool can = give_name(trial, tmp) && unlink(tmp) == 0;
    close(trial);
    return can ? open_without_name(folder) : -1;
}

int gt_cli_output_file_open(struct gt_cli_output_file *f, const char *path, struct gt_error *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (gt_compact_work_check_replace(path, err) < 0) {
        *f = (struct gt_cli_output_file){.fd = -1};
        return err->status;
    }
    g_autofree char *real = there ? realpath(path, NULL) : NULL; /* a link stays one */
    *f = (struct gt_cli_output_file){.fd = -1, .path = g_strdup(real ? real : path)};
    if (there && !S_ISREG(st.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        g_autofree char *folder = g_path_get_dirname(f->path);
        g_autofree char *name = g_path_get_basename(f->path);
        gt_file_remove_left_beside(f->path);
        f->tmp = g_strdup_printf("%s/.%s.%ld.tmp", folder, name, (long)getpid());
        f->fd = open_unnamed(folder, f->tmp);
        f->is_unnamed = f->fd >= 0;
        if (!f->is_unnamed)
            f->fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (f->fd >= 0)
        return 0;
    int status = gt_error_errno(err, errno, "%s: cannot be opened", path);
    g_free(f->path);
    g_free(f->tmp);
    return status;
}

int gt_cli_output_file_finish(struct gt_cli_output_file *f, bool keep, struct gt_error *err)
{
    int status = 0;
    if (f->is_unnamed && keep && !give_name(f->fd, f->tmp))
        status = gt_error_errno(err, errno, "%s: cannot be made", f->path);
    if (close(f->fd) != 0 && keep && status == 0)
        status = gt_error_errno(err, errno, "%s: cannot be written", f->path);
    keep = keep && status == 0;
    if (f->tmp && keep && rename(f->tmp, f->path) != 0)
        status = gt_error_errno(err, errno, "%s: cannot be made", f->path);
    if (f->tmp && (!keep || status < 0)) /* one without a name goes by itself */
        unlink(f->tmp);
    g_free(f->path);
    g_free(f->tmp);
    return status;
}

bool gt_cli_output_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* ---- a process of its own ------------------------------------------------------------------- */

enum { LOOK = 1 }; /* seconds between looks at the child, should its SIGCHLD not come */

/* Passes signals on until the child has ended; its status, as waitpid has it. -1: not known. */
static int wait_for(pid_t child, const sigset_t *set)
{
    for (;;) {
        int status;
        const struct timespec look = {.tv_sec = LOOK};
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return status;
        if (ended < 0 && errno != EINTR && kill(child, 0) != 0)
            return -1;
        siginfo_t info = {0};
        const int came = sigtimedwait(set, &info, &look);
        /* What a terminal sends the child gets as well: a second one would end it at once. */
        if (came > 0 && came != SIGCHLD && info.si_code != SI_KERNEL)
            kill(child, came);
    }
}

/* ---- files of a killed writer ------------------------------------------------------- */

static void remove_left(const char *path)
{
    g_autofree char *real = realpath(path, NULL); /* it may be a link */
    gt_file_remove_left_beside(path);
    if (real)
        gt_file_remove_left_beside(real);
}

/* Until the writer has ended: in a session of its own, which outlives the killed processes, and
 * holds nothing that others wait for; closing that lets the writer begin. */
static void sweep(int writer, const char *path)
{
    struct pollfd p = {.fd = 0, .events = POLLIN};
    setsid();
    if (dup2(writer, 0) != 0 || close_range(1, ~0U, 0) != 0)
        _exit(EXIT_FAILURE);
    while (poll(&p, 1, -1) < 0 && errno == EINTR)
        ;
    remove_left(path);
    _exit(EXIT_SUCCESS);
}

/* A process that removes what the writer leaves, also where this one is killed, too. -1: none. */
static pid_t start_sweeper(pid_t child, const char *path)
{
    const int writer = pidfd_open(child, 0);
    const pid_t sweeper = writer >= 0 ? fork() : -1;
    if (sweeper == 0)
        sweep(writer, path);
    if (writer >= 0)
        close(writer);
    return sweeper;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The writer. It begins when all others have closed their end of the pipe: then the sweeper is
 * there, or will never be. Nothing of the caller may run twice. */
static void write_in_child(pid_t parent, int ready[2], const sigset_t *before,
                           int (*run)(void *self), void *self)
{
    char byte;
    close(ready[1]);
    while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(ready[0]);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        _exit(EXIT_FAILURE);
    sigprocmask(SIG_SETMASK, before, NULL);
    exit(gt_cli_command_close_stdout(run(self)));
}

static void block_signals(sigset_t *set, sigset_t *before)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
    sigprocmask(SIG_BLOCK, set, before);
}

int gt_cli_guard_run(const char *path, int (*run)(void *self), void *self)
{
    sigset_t set, before;
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return run(self);
    block_signals(&set, &before);
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        write_in_child(parent, ready, &before, run, self);
    const pid_t sweeper = child > 0 ? start_sweeper(child, path) : -1;
    close(ready[0]);
    close(ready[1]);
    const int status = child > 0 ? wait_for(child, &set) : -1;
    if (sweeper > 0)
        while (waitpid(sweeper, NULL, 0) < 0 && errno == EINTR)
            ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0)
        return run(self);
    if (status >= 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    remove_left(path);
    if (status >= 0 && WIFSIGNALED(status))
        raise(WTERMSIG(status));
    return EXIT_FAILURE;
}
