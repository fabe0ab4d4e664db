/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child in the foreground: see child.h. */
#include "cli/record/child.h"

#include "base/clock.h"
#include "cli/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 250,
    TERM_SECONDS = 10, /* that the child has after SIGTERM */
};

/* Passed on when kill(2) sent them. */
static const int forwarded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                SIGALRM, SIGTERM, SIGTSTP, SIGWINCH};

struct run {
    const struct gt_record_child *child;
    pid_t pid;
    int signals; /* signalfd */
    sigset_t old_mask;
    struct sigaction old_chld;
    uint64_t termed; /* monotonic ns when SIGTERM was first passed on; 0: it was not */
    bool overdue;    /* the child has had its time, and that was said */
    bool ended;
    int wait_status;
};

static struct sigaction old_pipe;
static bool ignores_pipe;

void gt_record_child_ignore_broken_pipes(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (!ignores_pipe)
        sigaction(SIGPIPE, &ignore, &old_pipe);
    ignores_pipe = true;
}

static void exec_child(const struct run *r, int report)
{
    sigaction(SIGCHLD, &r->old_chld, NULL);
    if (ignores_pipe)
        sigaction(SIGPIPE, &old_pipe, NULL);
    sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
    if (r->child->output)
        dup2(r->child->output->fd, STDOUT_FILENO);
    if (r->child->same_places)
        personality(PER_LINUX | ADDR_NO_RANDOMIZE);
    execve(r->child->path, r->child->argv, r->child->envp);
    int errnum = errno;
    ssize_t n = write(report, &errnum, sizeof errnum);
    (void)n; /* the parent is gone if this fails */
    _exit(127);
}

/* Starts the child; an exec that fails comes back through a pipe that a good one closes. */
static int start(struct run *r, struct gt_error *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return gt_error_errno(err, errno, "pipe");
    r->pid = fork();
    if (r->pid == 0)
        exec_child(r, report[1]);
    int failed = r->pid < 0 ? errno : 0;
    close(report[1]);
    if (r->child->output) { /* or its end would never be seen */
        close(r->child->output->fd);
        r->child->output->fd = -1;
    }
    ssize_t n = 0;
    int errnum = 0;
    if (!failed)
        do
            n = read(report[0], &errnum, sizeof errnum);
        while (n < 0 && errno == EINTR);
    close(report[0]);
    if (failed)
        return gt_error_errno(err, failed, "fork");
    if (n == (ssize_t)sizeof errnum) {
        waitpid(r->pid, NULL, 0);
        return gt_error_errno(err, errnum, "%s", r->child->path);
    }
    return 0;
}

/* The terminal stopped the child: stop as well, so that the shell takes over; wake it after us
 * unless whoever woke us has done that. SIGSTOP is left alone: no shell would wake us again. */
static void stop_like_child(struct run *r, int sig)
{
    if (sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU)
        return;
    kill(getpid(), SIGSTOP);
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)r->pid, &info, WCONTINUED | WNOHANG) == 0 && info.si_pid == 0)
        kill(r->pid, SIGCONT);
}

static void reap(struct run *r)
{
    int status;
    while (!r->ended && waitpid(r->pid, &status, WNOHANG | WUNTRACED) == r->pid) {
        if (WIFSTOPPED(status)) {
            stop_like_child(r, WSTOPSIG(status));
            continue;
        }
        r->ended = true;
        r->wait_status = status;
    }
}

/* It may only hang; or a guest's program catches SIGTERM, and has its reasons: that is for whoever
 * sent it to decide. */
static bool kills(struct run *r, int sig)
{
    if (sig != SIGTERM || r->ended)
        return false;
    if (r->overdue)
        kill(r->pid, SIGKILL);
    else if (!r->termed)
        r->termed = gt_base_clock_monotonic();
    return r->overdue;
}

/* The rest of the time after SIGTERM, for poll; -1: none runs. */
static int overdue_in(struct run *r)
{
    if (!r->termed || r->overdue)
        return -1;
    uint64_t ms = (gt_base_clock_monotonic() - r->termed) / 1000000;
    if (ms < TERM_SECONDS * 1000)
        return TERM_SECONDS * 1000 - (int)ms;
    r->overdue = true;
    gt_record_say("QEMU still runs %d s after SIGTERM: send SIGTERM once more to kill it",
                  TERM_SECONDS);
    return -1;
}

static void handle_signal(struct run *r, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGCHLD) {
        reap(r);
        return;
    }
    if (info->ssi_signo == SIGWINCH && r->child->output)
        r->child->output->resize(r->child->output->self);
    if (info->ssi_code > 0) /* the kernel's: the child has its own */
        return;
    if (r->child->signal && r->child->signal(r->child->signal_data, (int)info->ssi_signo))
        return;
    if (kills(r, (int)info->ssi_signo))
        return;
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        if (!r->ended && forwarded[i] == (int)info->ssi_signo)
            kill(r->pid, forwarded[i]);
}

static bool ends_wait(const struct run *r)
{
    struct signalfd_siginfo info;
    bool ends = false;
    while (read(r->signals, &info, sizeof info) == (ssize_t)sizeof info)
        ends = ends || info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ||
               info.ssi_signo == SIGHUP || info.ssi_signo == SIGQUIT;
    return ends;
}

/* What the child wrote before it ended. Another process may have its output still, so that no end
 * of it comes; and the rest may never find a reader, so that a signal ends the wait. */
static void drain(const struct run *r)
{
    struct gt_record_child_output *o = r->child->output;
    while (o && !o->done(o->self)) {
        struct pollfd p[2] = {{r->signals, POLLIN, 0}};
        o->wants(o->self, &p[1]);
        int ready = poll(p, 2, p[1].events & POLLIN ? 0 : -1);
        if ((ready < 0 && errno != EINTR) || ready == 0 || (p[0].revents && ends_wait(r)))
            return;
        if (p[1].revents)
            o->ready(o->self);
    }
}

static void wait_for_end(struct run *r)
{
    struct gt_record_child_output *o = r->child->output;
    const struct gt_record_child_input *in = r->child->input;
    while (!r->ended) {
        struct pollfd p[3] = {{r->signals, POLLIN, 0}, {-1, 0, 0}, {-1, 0, 0}};
        if (o)
            o->wants(o->self, &p[1]);
        if (in)
            in->wants(in->self, &p[2]);
        int left = overdue_in(r);
        bool ticks = r->child->tick && (left < 0 || left > TICK_MS);
        int ready = poll(p, 3, ticks ? TICK_MS : left);
        if (ready == 0 && ticks)
            r->child->tick(r->child->data);
        if (ready > 0 && p[1].revents)
            o->ready(o->self);
        if (ready > 0 && p[2].revents)
            in->ready(in->self);
        /* All that is pending, so that a ^C the child died of does not hit us afterwards. */
        struct signalfd_siginfo info;
        while (read(r->signals, &info, sizeof info) == (ssize_t)sizeof info)
            handle_signal(r, &info);
    }
    drain(r);
}

int gt_record_child_run(const struct gt_record_child *child, int *wait_status, struct gt_error *err)
{
    struct run r = {.child = child};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    if (child->output) /* to a reader of ours that is gone */
        sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGTTOU); /* progress in the background must not stop us */
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&set, forwarded[i]);
    const struct sigaction chld = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &chld, &r.old_chld);
    sigprocmask(SIG_BLOCK, &set, &r.old_mask);
    r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    int status = r.signals < 0 ? gt_error_errno(err, errno, "signalfd") : start(&r, err);
    if (status == 0) {
        wait_for_end(&r);
        *wait_status = r.wait_status;
    }
    if (r.signals >= 0)
        close(r.signals);
    sigprocmask(SIG_SETMASK, &r.old_mask, NULL);
    sigaction(SIGCHLD, &r.old_chld, NULL);
    return status;
}

int gt_record_child_end_like(int wait_status)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int sig = WTERMSIG(wait_status);
    const struct sigaction fatal = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, sig);
    prctl(PR_SET_DUMPABLE, 0);
    sigaction(sig, &fatal, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), sig);
    return 128 + sig;
}
