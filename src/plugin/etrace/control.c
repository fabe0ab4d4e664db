/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control=PATH: see control.h. */
#include "plugin/etrace/control.h"

#include "base/thread.h"
#include "plugin/etrace/buffer.h"
#include "plugin/etrace/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STACK = 256 << 10,
    ANSWER = 200, /* bytes, with its end */
    POLL_MS = 20, /* how often the thread checks whether to stop */
};

/* After the counts of a command, an event with the command's number. */
static void put_snapshot(struct gt_etrace *e)
{
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, NULL, ANSWER);
    if (!buf)
        return;
    gt_etrace_put_event(&buf->w, &(struct gt_etrace_event){.value = ++e->control.snapshots,
                                                           .previous = e->control.snapshots - 1,
                                                           .device = "etrace",
                                                           .name = "counts"});
    gt_etrace_put_end(buf);
}

static void do_counts(struct gt_etrace *e, char *answer)
{
    if (!(e->flags & GT_ETRACE_F_COVERAGE)) {
        snprintf(answer, ANSWER, "error: counts: flags=coverage was not asked for");
        return;
    }
    size_t n = gt_etrace_put_counts(e);
    put_snapshot(e);
    gt_etrace_hand_over_own(e);
    gt_packet_sink_flush(e->sink);
    snprintf(answer, ANSWER, "ok %zu counts, number %u", n, e->control.snapshots);
}

static void do_flush(struct gt_etrace *e, char *answer)
{
    gt_packet_sink_flush(e->sink);
    snprintf(answer, ANSWER, "ok");
}

static void do_status(struct gt_etrace *e, char *answer)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_get_stats(e->sink, &stats);
    snprintf(answer, ANSWER, "ok written=%" PRIu64 " dropped=%" PRIu64 " vcpus=%u", stats.sent,
             stats.dropped, __atomic_load_n(&e->n_vcpus, __ATOMIC_RELAXED));
}

static const struct {
    const char *name;
    void (*run)(struct gt_etrace *e, char *answer); /* ANSWER bytes */
} commands[] = {{"counts", do_counts}, {"flush", do_flush}, {"status", do_status}};

static void answer_line(int fd, char *answer)
{
    size_t n = strlen(answer);
    answer[n++] = '\n';
    send(fd, answer, n, MSG_NOSIGNAL); /* a client that does not read gets no answer */
}

static void run_command(struct gt_etrace *e, const struct gt_etrace_client *c, const char *line)
{
    char answer[ANSWER + 1] = "";
    for (size_t i = 0; i < sizeof commands / sizeof commands[0] && !answer[0]; i++)
        if (strcmp(commands[i].name, line) == 0)
            commands[i].run(e, answer);
    if (!answer[0])
        snprintf(answer, ANSWER, "error: unknown command %s: expected counts, flush or status",
                 line);
    answer_line(c->fd, answer);
}

static void refuse(int fd, const char *what, int most)
{
    char answer[ANSWER + 1];
    snprintf(answer, ANSWER, "error: too many %s: at most %d", what, most);
    answer_line(fd, answer);
}

static void disconnect(struct gt_etrace_client *c)
{
    close(c->fd);
    *c = (struct gt_etrace_client){.fd = -1};
}

/* A line has ended, n bytes without its end; of a line that was too long, its last bytes. */
static void end_line(struct gt_etrace *e, struct gt_etrace_client *c, size_t n)
{
    c->line[n - (n && c->line[n - 1] == '\r')] = '\0';
    if (!c->skipping)
        run_command(e, c, c->line);
    c->skipping = false;
}

/* Receives what a client has sent, and runs the commands in it. */
static void receive(struct gt_etrace *e, struct gt_etrace_client *c)
{
    ssize_t got = recv(c->fd, c->line + c->n, GT_ETRACE_COMMAND - c->n, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        disconnect(c);
        return;
    }
    c->n += (size_t)got;
    for (char *end; (end = memchr(c->line, '\n', c->n));) {
        size_t used = (size_t)(end + 1 - c->line);
        end_line(e, c, used - 1);
        memmove(c->line, c->line + used, c->n - used);
        c->n -= used;
    }
    if (c->n < GT_ETRACE_COMMAND)
        return;
    if (!c->skipping)
        refuse(c->fd, "bytes in a command", GT_ETRACE_COMMAND - 1);
    c->skipping = true;
    c->n = 0;
}

static void accept_client(struct gt_etrace_control *c)
{
    int fd = gt_listener_accept(&c->listener);
    if (fd < 0)
        return;
    for (size_t i = 0; i < GT_ETRACE_CLIENTS; i++)
        if (c->clients[i].fd < 0) {
            c->clients[i].fd = fd;
            return;
        }
    refuse(fd, "clients", GT_ETRACE_CLIENTS);
    close(fd);
}

/* Waits a moment for clients, and serves those that have sent something. */
static void poll_clients(struct gt_etrace *e)
{
    struct gt_etrace_control *c = &e->control;
    struct pollfd p[1 + GT_ETRACE_CLIENTS] = {{.fd = c->listener.fd, .events = POLLIN}};
    for (size_t i = 0; i < GT_ETRACE_CLIENTS; i++)
        p[1 + i] = (struct pollfd){.fd = c->clients[i].fd, .events = POLLIN};
    if (poll(p, 1 + GT_ETRACE_CLIENTS, POLL_MS) <= 0)
        return;
    for (size_t i = 0; i < GT_ETRACE_CLIENTS; i++)
        if (p[1 + i].revents)
            receive(e, &c->clients[i]);
    if (p[0].revents)
        accept_client(c);
}

static int open_socket(struct gt_etrace_control *c)
{
    struct gt_error err = {0};
    int status = gt_listener_open(&c->listener, c->path, &err);
    pthread_mutex_lock(&c->lock);
    c->open = true;
    c->error = err;
    pthread_cond_signal(&c->opened);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static void *serve(void *self)
{
    struct gt_etrace *e = self;
    struct gt_etrace_control *c = &e->control;
    gt_thread_own_files();
    for (size_t i = 0; i < GT_ETRACE_CLIENTS; i++)
        c->clients[i] = (struct gt_etrace_client){.fd = -1};
    int status = open_socket(c);
    while (status == 0 && !__atomic_load_n(&c->stop, __ATOMIC_RELAXED))
        poll_clients(e);
    for (size_t i = 0; i < GT_ETRACE_CLIENTS; i++)
        if (c->clients[i].fd >= 0)
            disconnect(&c->clients[i]);
    if (status == 0)
        gt_listener_close(&c->listener);
    return NULL;
}

int gt_etrace_control_start(struct gt_etrace *e, const char *path, struct gt_error *err)
{
    struct gt_etrace_control *c = &e->control;
    int status = gt_socket_check_path(path, err);
    if (status < 0)
        return status;
    c->path = path;
    int error = gt_thread_start(&c->thread, STACK, serve, e);
    if (error)
        return gt_error_errno(err, error, "control=%s: cannot start a thread", path);
    c->started = true;
    pthread_mutex_lock(&c->lock);
    while (!c->open)
        pthread_cond_wait(&c->opened, &c->lock);
    *err = c->error;
    pthread_mutex_unlock(&c->lock);
    if (err->status)
        gt_etrace_control_stop(e);
    return err->status;
}

void gt_etrace_control_stop(struct gt_etrace *e)
{
    struct gt_etrace_control *c = &e->control;
    if (!c->started)
        return;
    __atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
    pthread_join(c->thread, NULL);
    c->started = false;
}
