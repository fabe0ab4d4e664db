/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pager of reading commands: see pager.h. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHELL_CANNOT_RUN = 126, SHELL_NO_COMMAND = 127 };

/* NULL: none. */
static const char *command(const struct gt_pager_options *o)
{
    const char *own = getenv("GUESTTRACE_PAGER"), *any = getenv("PAGER");
    const char *chosen = own ? own : any;
    if (o->off || !isatty(STDOUT_FILENO))
        return NULL;
    if (chosen)
        return *chosen && strcmp(chosen, "cat") != 0 ? chosen : NULL;
    g_autofree char *less = g_find_program_in_path("less");
    return less ? "less" : NULL;
}

static void ignore(int signal_number, struct sigaction *before)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigaction(signal_number, &ignored, before);
}

static void restore_signals(const struct gt_pager *p)
{
    sigaction(SIGINT, &p->interrupt, NULL);
    sigaction(SIGQUIT, &p->quit, NULL);
}

/* Between fork and exec. Quits where all fits on a screen, shows colours, cuts long lines, and
 * leaves what it showed on the screen. */
static void run_pager(const struct gt_pager *p, const char *line, int from)
{
    restore_signals(p);
    dup2(from, STDIN_FILENO);
    setenv("LESS", "FRSX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(SHELL_NO_COMMAND);
}

static int start(struct gt_pager *p, const char *line, struct gt_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gt_error_errno(err, errno, "the pager's pipe cannot be made");
    ignore(SIGINT, &p->interrupt);
    ignore(SIGQUIT, &p->quit);
    p->pid = fork();
    if (p->pid == 0)
        run_pager(p, line, ends[0]);
    int failed = errno;
    close(ends[0]);
    if (p->pid < 0) {
        close(ends[1]);
        restore_signals(p);
        p->pid = 0;
        return gt_error_errno(err, failed, "the pager cannot be started");
    }
    p->command = g_strdup(line);
    gt_output_init(&p->out, ends[1]);
    return 0;
}

int gt_pager_start(struct gt_pager *p, const struct gt_pager_options *o, struct gt_error *err)
{
    const char *line = command(o);
    p->pid = 0;
    p->command = NULL;
    p->color = gt_color_wanted(o->color);
    gt_output_init(&p->out, STDOUT_FILENO);
    int status = line ? start(p, line, err) : 0;
    if (status == 0)
        ignore(SIGPIPE, &p->pipe);
    return status;
}

/* The exit status of the pager, when it has ended. */
static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int gt_pager_finish(struct gt_pager *p, struct gt_error *err)
{
    gt_output_flush(&p->out);
    int failed = p->out.failed == EPIPE ? 0 : p->out.failed, ended = 0;
    if (p->pid) {
        close(p->out.fd);
        ended = wait_for(p->pid);
        restore_signals(p);
    }
    sigaction(SIGPIPE, &p->pipe, NULL);
    g_autofree char *line = p->command;
    p->command = NULL;
    if (ended == SHELL_NO_COMMAND || ended == SHELL_CANNOT_RUN)
        return gt_error_set(err, GT_E_IO,
                            "the pager '%s' cannot be run; set GUESTTRACE_PAGER, or use --no-pager",
                            line);
    if (failed)
        return gt_error_errno(err, failed, "standard output: cannot be written");
    return 0;
}
