/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket of control= and its thread: see control.h. */
#include "qemu/support/control.h"

#include "base/socket.h"
#include "base/thread.h"
#include "qemu/support/control_client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STACK = 256 << 10,
    POLL_MS = 20, /* how often the thread checks whether to stop */
};

/* A place for a client. */
struct place {
    int fd;     /* -1: free */
    bool ended; /* it sends nothing more */
    bool ready; /* its input may have another message */
    struct gt_support_control_client client;
};

struct gt_support_control {
    struct gt_support_control_options options;
    pthread_t thread;
    bool serves, stop; /* atomic */
    bool private_files;

    struct gt_socket_listener listener; /* the thread's alone, as are the places */
    struct place place[GT_CONTROL_CLIENTS];

    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t opened;
    bool open;
    struct gt_error error; /* of opening */
};

/* ---- clients ------------------------------------------------------------------------------- */

static void disconnect(struct place *p)
{
    int fd =
        __atomic_exchange_n(&p->fd, -1, __ATOMIC_RELAXED); /* see gt_support_control_fork_child */
    close(fd);
    gt_support_control_client_free(&p->client);
}

/* Sends what can be sent; false: the client is gone. */
static bool send_out(struct place *p)
{
    struct gt_support_control_client *c = &p->client;
    while (c->sent < c->out.n) {
        ssize_t n = send(p->fd, c->out.data + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN;
        c->sent += n > 0 ? (size_t)n : 0;
    }
    c->out.n = c->sent = 0;
    return true;
}

/* Runs one message, so that a client with many does not delay the others. */
static void work(struct place *p)
{
    struct gt_support_control_client *c = &p->client;
    bool sent = send_out(p);
    p->ready = sent && gt_support_control_client_work(c);
    if (p->ready)
        sent = send_out(p);
    if (!sent || c->out.failed || (p->ended && !p->ready && !c->out.n))
        disconnect(p);
}

static void receive(struct place *p)
{
    struct gt_support_control_client *c = &p->client;
    ssize_t n = recv(p->fd, c->in + c->fill, sizeof c->in - c->fill, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        disconnect(p);
        return;
    }
    p->ended = n == 0;
    c->fill += (size_t)n;
    work(p);
}

static void begin_client(struct gt_support_control *c, struct place *p, int fd)
{
    const struct gt_support_control_options *o = &c->options;
    p->fd = fd;
    p->ended = p->ready = false;
    gt_support_control_client_init(&p->client, &o->table, o->line, o->greets);
    work(p);
}

static void refuse_client(int fd)
{
    static const char full[] = "error: too many clients: at most 32\n";
    _Static_assert(GT_CONTROL_CLIENTS == 32, "the message says how many");
    send(fd, full, sizeof full - 1, MSG_NOSIGNAL);
    close(fd);
}

static void accept_client(struct gt_support_control *c)
{
    int fd = gt_socket_listener_accept(&c->listener);
    if (fd < 0)
        return;
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++)
        if (c->place[i].fd < 0) {
            begin_client(c, &c->place[i], fd);
            return;
        }
    refuse_client(fd);
}

/* ---- the thread ---------------------------------------------------------------------------- */

static bool can_work(const struct place *p)
{
    return p->fd >= 0 && p->ready && !p->client.out.n;
}

/* What to wait for at a place. Input waits while there is an answer to send. */
static short events_of(const struct place *p)
{
    if (p->fd < 0)
        return 0;
    return p->client.out.n ? POLLOUT : p->ready || p->ended ? 0 : POLLIN;
}

/* Waits a moment for clients, and serves those that have sent something. */
static void poll_clients(struct gt_support_control *c)
{
    struct pollfd f[1 + GT_CONTROL_CLIENTS] = {{.fd = c->listener.fd, .events = POLLIN}};
    bool ready = false;
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
        const struct place *p = &c->place[i];
        f[1 + i] = (struct pollfd){.fd = p->fd, .events = events_of(p)};
        ready |= can_work(p);
    }
    if (poll(f, 1 + GT_CONTROL_CLIENTS, ready ? 0 : POLL_MS) < 0)
        return;
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
        struct place *p = &c->place[i];
        if (p->fd < 0)
            continue;
        if (f[1 + i].events & POLLIN && f[1 + i].revents)
            receive(p);
        else if (f[1 + i].revents || can_work(p))
            work(p);
    }
    if (f[0].revents)
        accept_client(c);
}

static int open_socket(struct gt_support_control *c)
{
    struct gt_error err = {0};
    int status = gt_socket_listener_open(&c->listener, c->options.path, &err);
    pthread_mutex_lock(&c->lock);
    c->open = true;
    c->error = err;
    pthread_cond_signal(&c->opened);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static bool is_set(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void *serve(void *self)
{
    struct gt_support_control *c = self;
    c->private_files = gt_thread_own_files();
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++)
        c->place[i].fd = -1;
    int status = open_socket(c);
    while (status == 0 && !is_set(&c->stop)) {
        if (is_set(&c->serves))
            poll_clients(c);
        else
            poll(NULL, 0, POLL_MS);
    }
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++)
        if (c->place[i].fd >= 0)
            disconnect(&c->place[i]);
    if (status == 0)
        gt_socket_listener_close(&c->listener);
    return NULL;
}

/* ---- its users ----------------------------------------------------------------------------- */

static void destroy(struct gt_support_control *c)
{
    pthread_cond_destroy(&c->opened);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void wait_until_open(struct gt_support_control *c, struct gt_error *err)
{
    pthread_mutex_lock(&c->lock);
    while (!c->open)
        pthread_cond_wait(&c->opened, &c->lock);
    if (err)
        *err = c->error;
    pthread_mutex_unlock(&c->lock);
}

int gt_support_control_start(struct gt_support_control **out,
                             const struct gt_support_control_options *o, struct gt_error *err)
{
    *out = NULL;
    int status = gt_socket_check_path(o->path, err);
    if (status < 0)
        return status;
    struct gt_support_control *c = calloc(1, sizeof *c);
    if (!c)
        return gt_error_set(err, GT_E_NOMEM, "control=%s: out of memory", o->path);
    c->options = *o;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->opened, NULL);
    int error = gt_thread_start(&c->thread, STACK, serve, c);
    if (error) {
        destroy(c);
        return gt_error_errno(err, error, "control=%s: cannot start a thread", o->path);
    }
    wait_until_open(c, err);
    status = c->error.status;
    if (status < 0)
        gt_support_control_stop(c);
    else
        *out = c;
    return status;
}

void gt_support_control_serve(struct gt_support_control *c)
{
    __atomic_store_n(&c->serves, true, __ATOMIC_RELEASE);
}

void gt_support_control_stop(struct gt_support_control *c)
{
    if (!c)
        return;
    __atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
    pthread_join(c->thread, NULL);
    destroy(c);
}

/* The descriptors are in a table of the thread's own, or in one that the processes have copies of.
 * The parent's thread may be anywhere: each number is read once. */
void gt_support_control_fork_child(struct gt_support_control *c)
{
    if (!c || c->private_files)
        return;
    close(c->listener.fd);
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
        int fd = __atomic_load_n(&c->place[i].fd, __ATOMIC_RELAXED);
        if (fd >= 0)
            close(fd);
    }
}
