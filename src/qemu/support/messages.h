/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `guesttrace record` tells a plugin while the guest runs (recording/texts/message.h): a
 * thread of its own reads a FIFO and performs what comes, a command of a table a line, without
 * answers.
 */
#ifndef GT_QEMU_SUPPORT_MESSAGES_H
#define GT_QEMU_SUPPORT_MESSAGES_H

#include "base/sink/sink.h"
#include "base/worker.h"
#include "events/library/monitor/monitor.h"
#include "qemu/host.h"
#include "recording/texts/message.h"

#include <pthread.h>
#include <stdbool.h>

struct gt_support_messages {
    char *fifo;
    struct gt_thread_worker *worker;
    struct gt_events_monitor_table table; /* run on the thread; without GT_MESSAGE_QUIT */
    bool own_files; /* the thread has a descriptor table of its own, as a program needs it */
    int fd;         /* the FIFO, in the worker's table; -1: not open */
    bool listening; /* the thread is there; at load and at the end */
    pthread_t thread;
};

/* At load, when nothing can fail any more: with the members above `listening` set, begins to listen
 * at the FIFO, which is made if it is not there. Where there is none (a file system that has none),
 * or another process listens, no process can send. `fifo` becomes the messages' (g_free). */
void gt_support_messages_start(struct gt_support_messages *m);
/* In a forked child: the thread is the parent's. */
void gt_support_messages_fork_child(struct gt_support_messages *m);
/* At the end: performs the messages sent before, and stops; with `remove` the FIFO goes. */
void gt_support_messages_end(struct gt_support_messages *m, bool remove);

/* Messages and the end of a packet sink, for the plugins that have one. */

/* Writes the sink's message that was not fetched yet, if any, on standard error. Cheap; any thread.
 */
void gt_support_sink_message_report(struct gt_packet_sink *sink);

/* A vCPU that waits for a reader lets the host end. False: a machine may be asked to end, and wait
 * for that vCPU, before the plugin hears of it. */
bool gt_support_sink_end_is_seen(const struct gt_host_info *host);

#endif
