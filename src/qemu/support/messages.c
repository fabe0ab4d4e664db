/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to a plugin: see messages.h. */
#include "qemu/support/messages.h"

#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STACK = 1 << 20 };

static void perform(void *messages, char *line)
{
    const struct gt_support_messages *m = messages;
    struct gt_events_monitor_answer ignored;
    gt_events_monitor_run(&m->table, line, &ignored);
}

/* Open for writing as well: so no writer's end is the end. */
static void *listen_on(void *arg)
{
    struct gt_support_messages *m = arg;
    struct gt_recording_messages a = {.n = 0};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (m->own_files)
        gt_thread_own_files();
    int fd = open(m->fifo, O_RDWR | O_CLOEXEC);
    while (fd >= 0) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); /* where no farewell can be sent */
        ssize_t n = read(fd, a.data + a.n, GT_MESSAGE_MAX - a.n);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        if (n > 0 ? !gt_recording_messages_arrived(&a, (size_t)n, perform, m)
                  : n == 0 || errno != EINTR)
            break;
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

struct made {
    const char *fifo;
    bool there, listens; /* listens: another process does */
    int fd;              /* for the farewell */
};

static void make_fifo(void *arg)
{
    struct made *made = arg;
    struct stat st;
    made->there = mkfifo(made->fifo, 0600) == 0 ||
                  (errno == EEXIST && lstat(made->fifo, &st) == 0 && S_ISFIFO(st.st_mode));
    int fd = open(made->fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    made->listens = fd >= 0;
    if (fd >= 0)
        close(fd);
    made->fd = -1;
    if (made->there && !made->listens)
        made->fd = open(made->fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

struct farewell {
    const struct gt_support_messages *m;
    bool sent;
};

/* By the descriptor that is open: at the end the guest may not let us open any more. */
static void send_quit(void *arg)
{
    struct farewell *f = arg;
    int e;
    do {
        e = gt_recording_message_write(f->m->fd, GT_MESSAGE_QUIT, NULL);
        if (e == EAGAIN)
            sched_yield(); /* it is full: the thread reads */
    } while (e == EAGAIN);
    f->sent = e == 0 || gt_recording_message_send(f->m->fifo, GT_MESSAGE_QUIT, NULL) == 0;
    if (f->m->fd >= 0)
        close(f->m->fd);
}

static void remove_fifo(void *fifo)
{
    unlink(fifo);
}

void gt_support_messages_start(struct gt_support_messages *m)
{
    struct made made = {.fifo = m->fifo, .fd = -1};
    gt_thread_worker_call(m->worker, make_fifo, &made);
    m->fd = made.fd;
    if (made.there && !made.listens)
        m->listening = gt_thread_start(&m->thread, STACK, listen_on, m) == 0;
}

void gt_support_messages_fork_child(struct gt_support_messages *m)
{
    m->listening = false;
}

void gt_support_messages_end(struct gt_support_messages *m, bool remove)
{
    if (!m->listening)
        return;
    struct farewell farewell = {.m = m};
    if (gt_thread_worker_call(m->worker, send_quit, &farewell) < 0 || !farewell.sent)
        pthread_cancel(m->thread);
    pthread_join(m->thread, NULL);
    if (remove)
        gt_thread_worker_call(m->worker, remove_fifo, m->fifo);
    m->listening = false;
    g_clear_pointer(&m->fifo, g_free);
}

void gt_support_sink_message_report(struct gt_packet_sink *sink)
{
    struct gt_error message;
    if (gt_packet_sink_message(sink, &message))
        gt_host_message("%s", message.text);
}

bool gt_support_sink_end_is_seen(const struct gt_host_info *host)
{
    return !host->system || gt_host_can(GT_HOST_SHUTDOWN);
}
