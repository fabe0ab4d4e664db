/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the recorder: see messages.h. */
#include "plugin/uftrace/messages.h"

#include "base/thread.h"
#include "format/recording/files.h"
#include "format/recording/message.h"
#include "plugin/uftrace/causes.h"
#include "plugin/uftrace/filter.h"
#include "plugin/uftrace/packed.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STACK = 1 << 20, PATH_ROOM = 4200 };

static const char *fifo_path(const struct gt_uftrace_recorder *r, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/" GT_MESSAGE_FIFO, r->output.dir.path);
    return path;
}

/* False: the last one. */
static bool take(struct gt_uftrace_recorder *r, const char *line)
{
    enum gt_message message;
    const char *text;
    if (!gt_message_parse(line, &message, &text))
        return true;
    switch (message) {
    case GT_MESSAGE_SNAPSHOT:
        gt_snapshot_ask(r, NULL);
        break;
    case GT_MESSAGE_CONSOLE:
        gt_recorder_cause_said(r, GT_FILTER_CONSOLE, text);
        break;
    case GT_MESSAGE_QMP:
        gt_recorder_cause_said(r, GT_FILTER_QMP, text);
        break;
    case GT_MESSAGE_QUIT:
        return false;
    }
    return true;
}

/* Lines that have arrived. What is longer than a message is none: dropped up to its newline. */
struct arrived {
    char data[GT_MESSAGE_MAX + 1];
    size_t n;
    bool skips;
};

/* False: the last message has come. */
static bool take_lines(struct gt_uftrace_recorder *r, struct arrived *a)
{
    char *at = a->data, *end;
    while ((end = memchr(at, '\n', (size_t)(a->data + a->n - at)))) {
        *end = '\0';
        if (!a->skips && !take(r, at))
            return false;
        a->skips = false;
        at = end + 1;
    }
    a->n -= (size_t)(at - a->data);
    memmove(a->data, at, a->n);
    if (a->n == GT_MESSAGE_MAX) {
        a->skips = true;
        a->n = 0;
    }
    return true;
}

/* Open for writing as well: so no writer's end is the end. */
static void *listen_on(void *arg)
{
    struct gt_uftrace_recorder *r = arg;
    struct arrived a = {.n = 0};
    char path[PATH_ROOM];
    gt_thread_own_files();
    int fd = open(fifo_path(r, path), O_RDWR | O_CLOEXEC);
    while (fd >= 0) {
        ssize_t n = read(fd, a.data + a.n, GT_MESSAGE_MAX - a.n);
        if (n > 0)
            a.n += (size_t)n;
        if (n > 0 ? !take_lines(r, &a) : n == 0 || errno != EINTR)
            break;
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

struct made {
    struct gt_uftrace_recorder *rec;
    bool there, listens; /* listens: another process does */
};

static void make_fifo(void *arg)
{
    struct made *made = arg;
    char path[PATH_ROOM];
    made->there = mkfifo(fifo_path(made->rec, path), 0600) == 0 || errno == EEXIST;
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    made->listens = fd >= 0;
    if (fd >= 0)
        close(fd);
}

static void send_quit(void *arg)
{
    char path[PATH_ROOM];
    while (gt_message_send(fifo_path(arg, path), GT_MESSAGE_QUIT, NULL) == EAGAIN)
        sched_yield(); /* it is full: the thread reads */
}

static void remove_fifo(void *arg)
{
    char path[PATH_ROOM];
    unlink(fifo_path(arg, path));
}

void gt_messages_start(struct gt_uftrace_recorder *r)
{
    struct made made = {.rec = r};
    if (!r->snapshots.on && !r->options.console && !r->options.qmp)
        return;
    gt_worker_call(r->output.worker, make_fifo, &made);
    if (made.there && !made.listens)
        r->messages.listening = gt_thread_start(&r->messages.thread, STACK, listen_on, r) == 0;
}

void gt_messages_fork_child(struct gt_uftrace_recorder *r)
{
    r->messages.listening = false;
}

void gt_messages_end(struct gt_uftrace_recorder *r)
{
    if (!r->messages.listening)
        return;
    gt_worker_call(r->output.worker, send_quit, r);
    pthread_join(r->messages.thread, NULL);
    if (!gt_packed_is_on(&r->output.packed)) /* else its directory goes */
        gt_worker_call(r->output.worker, remove_fifo, r);
    r->messages.listening = false;
}
