/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to the first process of a recording, while it runs, through a FIFO in the directory of
 * its text files (GT_MESSAGE_FIFO); of guest events, at OUTPUT.console. A message is a line, a word
 * and a text:
 *
 *     snapshot        write what the flight recorder holds
 *     console LINE    the machine has printed LINE
 *     qmp NAME        QEMU has reported the event NAME
 *     event NAME LINE the guest event NAME has happened: the console has printed LINE
 *     quit            stop reading; the process itself sends it
 *
 * A line is written at once and is not longer than PIPE_BUF: lines of several writers do not mix.
 * Its reader is qemu/support/messages.h.
 */
#ifndef GT_RECORDING_TEXTS_MESSAGE_H
#define GT_RECORDING_TEXTS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define GT_MESSAGE_SNAPSHOT "snapshot"
#define GT_MESSAGE_CONSOLE  "console"
#define GT_MESSAGE_QMP      "qmp"
#define GT_MESSAGE_EVENT    "event"
#define GT_MESSAGE_QUIT     "quit"

enum { GT_MESSAGE_MAX = 1024 }; /* bytes of a line with its newline */

/* Sends it; never waits. A text (NULL: none) is cut where the line would be too long, and at a
 * newline. Returns 0, or errno: ENXIO, ENOENT: there is no reader; EAGAIN: the reader is behind. */
int gt_recording_message_send(const char *fifo, const char *message, const char *text);
/* The same to a FIFO that is open, with O_NONBLOCK. */
int gt_recording_message_write(int fd, const char *message, const char *text);

/* Messages that have arrived, for their reader; zeroed at first. Its next bytes go to data + n. A
 * line longer than a message is dropped up to its newline. */
struct gt_recording_messages {
    char data[GT_MESSAGE_MAX + 1];
    size_t n;
    bool skips;
};
/* `n` bytes were added: calls take for each message that is complete. False: GT_MESSAGE_QUIT has
 * come. */
bool gt_recording_messages_arrived(struct gt_recording_messages *m, size_t n,
                                   void (*take)(void *self, char *line), void *self);

#endif
