/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control=PATH: a socket that takes commands while the guest runs, on a thread of ours that neither
 * QEMU nor the guest sees. A command is a line, its answer is a line: "ok ..." or "error: ...". A
 * client that talks slowly, or not at all, is in nobody's way; one too many is sent away with an
 * error.
 *
 *   counts   flags=coverage: writes how often each block ran until now
 *   flush    hands over what is recorded until now
 *   status   how much was written
 */
#include "plugin/etrace/buffer.h"

#include "base/socket.h"
#include "base/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STACK = 256 << 10,
    CLIENTS = 32,
    LINE = 80, /* bytes, with its end */
    ANSWER = 200,
    LOOK_MS = 20, /* between two looks whether the guest is done */
};

struct client {
    int fd; /* -1: none */
    char line[LINE];
    size_t n;
    bool dropping; /* a line that is too long, up to its end */
};

static struct {
    const char *path;
    pthread_t thread;
    bool started, stop; /* stop: atomic */
    unsigned snapshots;
    struct gt_listener listener;
    struct client clients[CLIENTS];

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t opened;
    bool open;
    struct gt_error error;
} control = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static void put_snapshot_mark(void)
{
    struct gt_writer *w = gt_etrace_put_begin(NULL, ANSWER);
    if (!w)
        return;
    gt_etrace_put_event(w, &(struct gt_etrace_event){.value = ++control.snapshots,
                                                     .previous = control.snapshots - 1,
                                                     .device = "etrace",
                                                     .name = "counts"});
    gt_etrace_put_end();
}

static void do_counts(char *answer)
{
    if (!(gt_etrace.flags & GT_ETRACE_F_COVERAGE)) {
        snprintf(answer, ANSWER, "error: counts: flags=coverage was not asked for");
        return;
    }
    size_t n = gt_etrace_put_counts();
    put_snapshot_mark();
    gt_etrace_hand_over_own();
    gt_packet_sink_flush(gt_etrace.outlet);
    snprintf(answer, ANSWER, "ok %zu counts, number %u", n, control.snapshots);
}

static void do_flush(char *answer)
{
    gt_packet_sink_flush(gt_etrace.outlet);
    snprintf(answer, ANSWER, "ok");
}

static void do_status(char *answer)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_get_stats(gt_etrace.outlet, &stats);
    snprintf(answer, ANSWER, "ok written=%" PRIu64 " dropped=%" PRIu64 " vcpus=%u", stats.sent,
             stats.dropped, __atomic_load_n(&gt_etrace.n_vcpus, __ATOMIC_RELAXED));
}

static const struct {
    const char *name;
    void (*run)(char *answer); /* ANSWER bytes */
} commands[] = {{"counts", do_counts}, {"flush", do_flush}, {"status", do_status}};

static void answer_line(int fd, char *answer)
{
    size_t n = strlen(answer);
    answer[n++] = '\n';
    send(fd, answer, n, MSG_NOSIGNAL); /* who does not read gets no answer */
}

static void obey(const struct client *c, const char *line)
{
    char answer[ANSWER + 1] = "";
    for (size_t i = 0; i < sizeof commands / sizeof commands[0] && !answer[0]; i++)
        if (strcmp(commands[i].name, line) == 0)
            commands[i].run(answer);
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

static void leave(struct client *c)
{
    close(c->fd);
    *c = (struct client){.fd = -1};
}

/* A line without its end; of one that is too long, what came last. */
static void end_line(struct client *c, size_t n)
{
    c->line[n - (n && c->line[n - 1] == '\r')] = '\0';
    if (!c->dropping)
        obey(c, c->line);
    c->dropping = false;
}

/* What a client has said: whole lines are obeyed. */
static void hear(struct client *c)
{
    ssize_t got = recv(c->fd, c->line + c->n, LINE - c->n, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        leave(c);
        return;
    }
    c->n += (size_t)got;
    for (char *end; (end = memchr(c->line, '\n', c->n));) {
        size_t used = (size_t)(end + 1 - c->line);
        end_line(c, used - 1);
        memmove(c->line, c->line + used, c->n - used);
        c->n -= used;
    }
    if (c->n < LINE)
        return;
    if (!c->dropping)
        refuse(c->fd, "bytes in a command", LINE - 1);
    c->dropping = true;
    c->n = 0;
}

static void welcome(void)
{
    int fd = gt_listener_accept(&control.listener);
    if (fd < 0)
        return;
    for (size_t i = 0; i < CLIENTS; i++)
        if (control.clients[i].fd < 0) {
            control.clients[i].fd = fd;
            return;
        }
    refuse(fd, "clients", CLIENTS);
    close(fd);
}

/* Waits a moment for somebody who says something. */
static void look(void)
{
    struct pollfd p[1 + CLIENTS] = {{.fd = control.listener.fd, .events = POLLIN}};
    for (size_t i = 0; i < CLIENTS; i++)
        p[1 + i] = (struct pollfd){.fd = control.clients[i].fd, .events = POLLIN};
    if (poll(p, 1 + CLIENTS, LOOK_MS) <= 0)
        return;
    for (size_t i = 0; i < CLIENTS; i++)
        if (p[1 + i].revents)
            hear(&control.clients[i]);
    if (p[0].revents)
        welcome();
}

static void *serve(void *arg)
{
    (void)arg;
    gt_thread_own_files();
    for (size_t i = 0; i < CLIENTS; i++)
        control.clients[i] = (struct client){.fd = -1};
    struct gt_error err = {0};
    int status = gt_listener_open(&control.listener, control.path, &err);
    pthread_mutex_lock(&control.lock);
    control.open = true;
    control.error = err;
    pthread_cond_signal(&control.opened);
    pthread_mutex_unlock(&control.lock);
    while (status == 0 && !__atomic_load_n(&control.stop, __ATOMIC_RELAXED))
        look();
    for (size_t i = 0; i < CLIENTS; i++)
        if (control.clients[i].fd >= 0)
            leave(&control.clients[i]);
    if (status == 0)
        gt_listener_close(&control.listener);
    return NULL;
}

int gt_etrace_control_start(const char *path, struct gt_error *err)
{
    int status = gt_socket_check_path(path, err);
    if (status < 0)
        return status;
    control.path = path;
    int e = gt_thread_start(&control.thread, STACK, serve, NULL);
    if (e)
        return gt_error_errno(err, e, "control=%s: cannot start a thread", path);
    control.started = true;
    pthread_mutex_lock(&control.lock);
    while (!control.open)
        pthread_cond_wait(&control.opened, &control.lock);
    *err = control.error;
    pthread_mutex_unlock(&control.lock);
    if (err->status)
        gt_etrace_control_stop();
    return err->status;
}

void gt_etrace_control_stop(void)
{
    if (!control.started)
        return;
    __atomic_store_n(&control.stop, true, __ATOMIC_RELAXED);
    pthread_join(control.thread, NULL);
    control.started = false;
}
