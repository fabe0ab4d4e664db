/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `guesttrace record` tells the recorder while the guest runs (format/recording/message.h):
 * somebody asks for a snapshot, the machine has printed a line, QEMU has reported an event. The
 * recording's first process listens, where it has a flight recorder or was promised such messages
 * (arguments console=on, qmp=on); a thread of its own performs the triggers.
 */
#ifndef GT_PLUGIN_UFTRACE_MESSAGES_H
#define GT_PLUGIN_UFTRACE_MESSAGES_H

#include <pthread.h>
#include <stdbool.h>

struct gt_uftrace_recorder;

struct gt_messages {
    bool listening; /* the thread is there; at load and at the end */
    pthread_t thread;
};

/* At load, when nothing can fail any more: begins to listen. Where there is no FIFO (a file system
 * that has none) nobody can send. */
void gt_messages_start(struct gt_uftrace_recorder *r);
/* In a forked child: the thread is the parent's. */
void gt_messages_fork_child(struct gt_uftrace_recorder *r);
/* At the end, before the open calls are ended: does what was sent before, and stops. */
void gt_messages_end(struct gt_uftrace_recorder *r);

#endif
