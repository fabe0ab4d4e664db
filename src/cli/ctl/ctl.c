/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace ctl`: the monitor of a running program's trace events, or a recording's control=
 * socket. */
#include "cli/ctl/ctl.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT = 30 };

struct ctl_options {
    uint64_t timeout;
};

static const struct gt_cli_option ctl_table[] = {
    {"timeout", .type = GT_OPTION_NUMBER, .old = "-t", .value = "SECONDS",
     .help = "wait up to N seconds for an answer (default: 30)", .min = 1, .max = 86400,
     .offset = offsetof(struct ctl_options, timeout)},
    {0},
};

struct session {
    const struct gt_cli_command *command;
    struct gt_cli_ctl link;
    int status; /* GT_EXIT_FAILED once a command failed */
};

/* Something else than 0: the connection is gone. */
static int take(void *self, const char *line)
{
    struct session *s = self;
    struct gt_error err = {0};
    g_autoptr(GString) out = g_string_new(NULL);
    int status = gt_cli_ctl_command(&s->link, line, out, &err);
    fwrite(out->str, 1, out->len, stdout);
    if (out->len && out->str[out->len - 1] != '\n')
        putchar('\n');
    fflush(stdout);
    if (status < 0)
        s->status = gt_cli_command_fail(s->command, GT_EXIT_FAILED, "%s", err.text);
    return status < 0 && status != GT_E_USAGE;
}

/* A line of the prompt: the same, or its end. */
static int take_prompted(void *self, const char *line)
{
    if (strcmp(line, "quit") == 0 || strcmp(line, "exit") == 0)
        return 1;
    return take(self, line);
}

/* Lines of standard input that are neither blank nor comments. */
static void take_lines(struct session *s)
{
    char *line = NULL;
    size_t room = 0;
    int gone = 0;
    while (!gone && getline(&line, &room, stdin) >= 0) {
        g_strstrip(line);
        if (*line && *line != '#')
            gone = take(s, line);
    }
    free(line);
}

static int run_ctl(const struct gt_cli_command *self, const void *options, size_t n,
                   char **operands)
{
    const struct ctl_options *opt = options;
    struct session s = {.command = self, .status = GT_EXIT_DONE};
    struct gt_error err = {0};
    if (n < 1)
        return gt_cli_command_usage_error(self, "takes a socket: SOCKET [COMMAND]");
    unsigned timeout = opt->timeout ? (unsigned)opt->timeout : TIMEOUT;
    if (gt_cli_ctl_open(&s.link, operands[0], timeout, &err) < 0)
        return gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    if (n > 1) {
        g_autofree char *line = g_strjoinv(" ", operands + 1);
        take(&s, line);
    } else if (isatty(STDIN_FILENO)) {
        gt_cli_ctl_prompt(&s.link, take_prompted, &s);
        s.status = GT_EXIT_DONE;
    } else {
        take_lines(&s);
    }
    gt_cli_ctl_close(&s.link);
    return s.status;
}

const struct gt_cli_command gt_cli_command_ctl = {
    .name = "ctl",
    .summary = "control a running program's trace events, or a recording",
    .usage = (const char *const[]){"[OPTIONS] SOCKET [COMMAND...]", NULL},
    .paragraphs =
        (const char *const[]){
            "SOCKET is that of 'guesttrace record --control', the monitor of a program that uses "
            "libguesttrace-events, or a QMP socket of QEMU. ctl executes COMMAND; without one it "
            "reads commands from a prompt, or from standard input, a line each, where '#' begins "
            "a comment.",
            "A recording of calls accepts \"status\"; \"flush\" (then readers can show the calls "
            "recorded until now); \"path\"; \"on\" and \"off\"; \"filter [OPTION...]\", which "
            "replaces all "
            "filters and triggers by those of these options of record; \"trigger "
            "FUNC@ACTION...\", which adds some; and \"snapshot [FILE]\". An etrace recording "
            "accepts \"counts\", \"flush\" and \"status\". \"help\" lists the commands.",
            "Of a monitor, \"info trace-events [PATTERN]\" lists events and their states; "
            "\"trace-event "
            "NAME|PATTERN on|off\" switches them; \"trace-file [on|off|flush|set [PATH]|dump "
            "[PATH]]\" controls the file of the simple backend; \"help\" lists all commands. "
            "PATTERN may have * and ?. \"quit\" ends the prompt.",
            "A COMMAND that begins with '{' is a command of QMP, which is sent as it is; what it "
            "returns is printed.",
            "The exit status is 1 if a command was refused, or there was no answer.", NULL},
    .spec = {.table = ctl_table, .stop_at_operand = true},
    .options_size = sizeof(struct ctl_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_ctl,
};
