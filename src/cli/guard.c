/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing in a child: see guard.h. */
#include "cli/guard.h"

#include "base/file.h"
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
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

int gt_guard_run(const char *path, int (*run)(void *self), void *self)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, &before) != 0)
        return run(self);
    const pid_t parent = getpid(), child = fork();
    if (child < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return run(self);
    }
    if (child == 0) { /* nothing of the caller may run twice */
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
            _exit(EXIT_FAILURE);
        sigprocmask(SIG_SETMASK, &before, NULL);
        exit(gt_command_close_stdout(run(self)));
    }
    const int status = wait_for(child, &set);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status >= 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    char *real = realpath(path, NULL); /* it may be a link */
    gt_file_remove_left_beside(path);
    if (real)
        gt_file_remove_left_beside(real);
    free(real);
    if (status >= 0 && WIFSIGNALED(status))
        raise(WTERMSIG(status));
    return EXIT_FAILURE;
}
