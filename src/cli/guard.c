/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing in a child: see guard.h. */
#include "cli/guard.h"

#include "base/file.h"
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* ---- the rest ------------------------------------------------------------------------------ */

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
