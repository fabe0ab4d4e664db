/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pager of reading commands, and colours: see pager.h. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHELL_CANNOT_RUN = 126, SHELL_NO_COMMAND = 127 };

/* ---- colours ------------------------------------------------------------------------------- */

const char *gt_cli_color(bool on, enum gt_cli_color color)
{
    static const char *const codes[] = {
        [GT_COLOR_NONE] = "\033[0m",     [GT_COLOR_BOLD] = "\033[1m",
        [GT_COLOR_RED] = "\033[91m",     [GT_COLOR_GREEN] = "\033[32m",
        [GT_COLOR_YELLOW] = "\033[33m",  [GT_COLOR_BLUE] = "\033[94m",
        [GT_COLOR_MAGENTA] = "\033[35m", [GT_COLOR_CYAN] = "\033[36m",
        [GT_COLOR_GRAY] = "\033[90m"};
    return on ? codes[color] : "";
}

enum gt_cli_color gt_cli_color_of_time(uint64_t ns)
{
    return ns < 1000000                   ? GT_COLOR_NONE
           : ns < 1000000000              ? GT_COLOR_GREEN
           : ns < UINT64_C(1000000000000) ? GT_COLOR_YELLOW
                                          : GT_COLOR_RED;
}

bool gt_cli_color_wanted(const char *choice)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice && strcmp(choice, "always") == 0)
        return true;
    if (choice && strcmp(choice, "never") == 0)
        return false;
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* ---- the pager ----------------------------------------------------------------------------- */

/* NULL: none. */
static const char *command(const struct gt_cli_pager_options *o)
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

static void restore_signals(const struct gt_cli_pager *p)
{
    sigaction(SIGINT, &p->interrupt, NULL);
    sigaction(SIGQUIT, &p->quit, NULL);
}

/* Between fork and exec. Quits where all fits on a screen, shows colours, cuts long lines, and
 * leaves what it showed on the screen. */
static void run_pager(const struct gt_cli_pager *p, const char *line, int from)
{
    restore_signals(p);
    dup2(from, STDIN_FILENO);
    setenv("LESS", "FRSX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(SHELL_NO_COMMAND);
}

static int start(struct gt_cli_pager *p, const char *line, struct gt_error *err)
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

int gt_cli_pager_start(struct gt_cli_pager *p, const struct gt_cli_pager_options *o,
                       struct gt_error *err)
{
    const char *line = command(o);
    p->pid = 0;
    p->command = NULL;
    p->color = gt_cli_color_wanted(o->color);
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

int gt_cli_pager_finish(struct gt_cli_pager *p, struct gt_error *err)
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
