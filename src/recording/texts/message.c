/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to a recording, both ways: see message.h. */
#include "recording/texts/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(GT_MESSAGE_MAX <= PIPE_BUF, "a message is written at once");

int gt_recording_message_write(int fd, const char *message, const char *text)
{
    char line[GT_MESSAGE_MAX];
    snprintf(line, sizeof line - 1, "%s%s%s", message, text ? " " : "", text ? text : "");
    size_t n = strcspn(line, "\n");
    line[n++] = '\n';
    ssize_t sent = write(fd, line, n);
    return sent == (ssize_t)n ? 0 : sent < 0 ? errno : EIO;
}

int gt_recording_message_send(const char *fifo, const char *message, const char *text)
{
    int fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int status = gt_recording_message_write(fd, message, text);
    close(fd);
    return status;
}

bool gt_recording_messages_arrived(struct gt_recording_messages *m, size_t n,
                                   void (*take)(void *self, char *line), void *self)
{
    char *at = m->data, *end;
    m->n += n;
    while ((end = memchr(at, '\n', (size_t)(m->data + m->n - at)))) {
        *end = '\0';
        if (!m->skips && strcmp(at, GT_MESSAGE_QUIT) == 0)
            return false;
        if (!m->skips)
            take(self, at);
        m->skips = false;
        at = end + 1;
    }
    m->n -= (size_t)(at - m->data);
    memmove(m->data, at, m->n);
    if (m->n == GT_MESSAGE_MAX) {
        m->skips = true;
        m->n = 0;
    }
    return true;
}
