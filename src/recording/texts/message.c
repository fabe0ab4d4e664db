/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to a recording: see message.h. */
#include "recording/texts/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(GT_MESSAGE_MAX <= PIPE_BUF, "a message is written at once");

static const char *const words[] = {
    [GT_MESSAGE_SNAPSHOT] = "snapshot", [GT_MESSAGE_CONSOLE] = "console", [GT_MESSAGE_QMP] = "qmp",
    [GT_MESSAGE_EVENT] = "event",       [GT_MESSAGE_QUIT] = "quit",
};

enum { WORDS = sizeof words / sizeof *words };

int gt_message_write(int fd, enum gt_message message, const char *text)
{
    char line[GT_MESSAGE_MAX];
    snprintf(line, sizeof line - 1, "%s%s%s", words[message], text ? " " : "", text ? text : "");
    size_t n = strcspn(line, "\n");
    line[n++] = '\n';
    ssize_t sent = write(fd, line, n);
    return sent == (ssize_t)n ? 0 : sent < 0 ? errno : EIO;
}

int gt_message_send(const char *fifo, enum gt_message message, const char *text)
{
    int fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int status = gt_message_write(fd, message, text);
    close(fd);
    return status;
}

bool gt_message_parse(const char *line, enum gt_message *message, const char **text)
{
    for (size_t i = 0; i < WORDS; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(line, words[i], n) != 0 || (line[n] && line[n] != ' '))
            continue;
        *message = (enum gt_message)i;
        *text = line[n] ? line + n + 1 : line + n;
        return true;
    }
    return false;
}
