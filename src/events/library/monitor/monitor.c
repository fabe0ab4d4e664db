/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The monitor's thread: see guesttrace/monitor.h.
 *
 * It waits for its socket, its clients and an eventfd that ends it; only the execution of a command
 * may block. It handles no signals. Its state is private while it runs; `lock` serialises starting
 * and stopping.
 *
 * A child of fork() has no such thread: it closes the descriptors, so that clients see the end of
 * the parent. `inherited` has them for that, from before their first use until just before they are
 * closed.
 */
#include "guesttrace/monitor.h"

#include "events/library/message.h"
#include "events/library/monitor/monitor.h"
#include "events/library/record/writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    WAKE, /* places in `polled`, and in `inherited` */
    SOCKET,
    CLIENTS,
    PLACES = CLIENTS + GT_MONITOR_CLIENTS_MAX,
    STACK_SIZE = 256 << 10,
    STOP_SECONDS = 2,
    PAUSE_MS = 100,
};

static struct monitor {
    bool running;
    pthread_t thread;
    struct gt_events_monitor_socket socket;
    struct gt_events_monitor_client *clients[GT_MONITOR_CLIENTS_MAX];
    struct pollfd polled[PLACES]; /* fd -1: unused */
} monitor;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inherited[PLACES]; /* descriptor + 1 */

static void note(int place, int fd)
{
    monitor.polled[place] = (struct pollfd){.fd = fd, .events = POLLIN};
    __atomic_store_n(&inherited[place], fd + 1, __ATOMIC_SEQ_CST);
}

static void forget(int place)
{
    monitor.polled[place].fd = -1;
    __atomic_store_n(&inherited[place], 0, __ATOMIC_SEQ_CST);
}

static void close_client(int i)
{
    int fd = monitor.polled[CLIENTS + i].fd;
    forget(CLIENTS + i);
    close(fd);
    gt_events_monitor_free(&monitor.clients[i]->out);
    free(monitor.clients[i]);
    monitor.clients[i] = NULL;
}

/* Sends what can be sent; false: the client is gone. */
static bool send_out(int i)
{
    struct gt_events_monitor_client *c = monitor.clients[i];
    while (c->sent < c->out.n) {
        ssize_t n = send(monitor.polled[CLIENTS + i].fd, c->out.data + c->sent, c->out.n - c->sent,
                         MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN;
        c->sent += n > 0 ? (size_t)n : 0;
    }
    c->out.n = 0;
    c->sent = 0;
    return true;
}

/* Answers and sends until one of the two has to wait. */
static void work(int i)
{
    struct gt_events_monitor_client *c = monitor.clients[i];
    size_t before;
    do {
        before = c->fill;
        gt_events_monitor_client_work(c);
        if (c->out.failed || !send_out(i) || (c->ended && !c->out.n && !c->fill)) {
            close_client(i);
            return;
        }
    } while (!c->out.n && c->fill && c->fill != before);
    if (c->ended && !c->out.n) { /* the rest is not a whole command */
        close_client(i);
        return;
    }
    monitor.polled[CLIENTS + i].events = c->out.n ? POLLOUT : POLLIN;
}

static void receive(int i)
{
    struct gt_events_monitor_client *c = monitor.clients[i];
    size_t room = sizeof c->in - 1 - c->fill; /* none: it hung up on an answer */
    ssize_t n = recv(monitor.polled[CLIENTS + i].fd, c->in + c->fill, room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0 || !room) {
        close_client(i);
        return;
    }
    c->ended = n == 0;
    c->fill += (size_t)n;
    work(i);
}

static void greet(int fd)
{
    int i = 0;
    while (i < GT_MONITOR_CLIENTS_MAX && monitor.clients[i])
        i++;
    struct gt_events_monitor_client *c = i < GT_MONITOR_CLIENTS_MAX ? malloc(sizeof *c) : NULL;
    if (!c) {
        static const char full[] = "error: too many clients\n";
        send(fd, full, sizeof full - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        close(fd);
        return;
    }
    memset(c, 0, offsetof(struct gt_events_monitor_client, in));
    monitor.clients[i] = c;
    note(CLIENTS + i, fd);
    gt_events_monitor_greet(&c->out);
    work(i);
}

static void accept_clients(void)
{
    int fd;
    while ((fd = accept4(monitor.socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        greet(fd);
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        poll(NULL, 0, PAUSE_MS); /* it stays ready, until the program has closed something */
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        if (poll(monitor.polled, PLACES, -1) < 0)
            continue;
        if (monitor.polled[WAKE].revents)
            return NULL;
        if (monitor.polled[SOCKET].revents)
            accept_clients();
        for (int i = 0; i < GT_MONITOR_CLIENTS_MAX; i++) {
            short ready = monitor.clients[i] ? monitor.polled[CLIENTS + i].revents : 0;
            monitor.polled[CLIENTS + i].revents = 0;
            if (ready & POLLOUT)
                work(i);
            else if (ready)
                receive(i);
        }
    }
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The thread may have been anywhere: what it had is left where it is. */
static void in_child(void)
{
    for (int i = 0; i < PLACES; i++) {
        int fd = __atomic_exchange_n(&inherited[i], 0, __ATOMIC_SEQ_CST) - 1;
        if (fd >= 0 && !gt_events_thread_begin) /* else they were never the process's */
            close(fd);
    }
    monitor.running = false;
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

static int start_thread(const char *path, struct gt_trace_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&monitor.thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return gt_events_fail_errno(err, failed, "%s: no thread for the monitor", path);
    pthread_setname_np(monitor.thread, "gt-monitor");
    return 0;
}

static void close_all(void)
{
    for (int i = 0; i < GT_MONITOR_CLIENTS_MAX; i++)
        if (monitor.clients[i])
            close_client(i);
    forget(SOCKET);
    gt_events_monitor_unlisten(&monitor.socket, true);
    int wake = monitor.polled[WAKE].fd;
    forget(WAKE);
    if (wake >= 0)
        close(wake);
    monitor.running = false;
}

static int start(const char *path, struct gt_trace_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (monitor.running)
        return gt_events_fail(err, GT_TRACE_E_EXISTS, "%s: the monitor is at %s already", path,
                              monitor.socket.path);
    memset(&monitor, 0, sizeof monitor);
    for (int i = 0; i < PLACES; i++)
        monitor.polled[i].fd = -1;
    int status = gt_events_monitor_listen(&monitor.socket, path, err);
    if (status < 0)
        return status;
    note(SOCKET, monitor.socket.fd);
    note(WAKE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    status = monitor.polled[WAKE].fd < 0 ? gt_events_fail_errno(err, errno, "%s: no eventfd", path)
                                         : start_thread(path, err);
    if (status < 0)
        close_all();
    monitor.running = status == 0;
    return status;
}

int gt_trace_monitor_start(const char *path, struct gt_trace_error *err)
{
    pthread_mutex_lock(&lock);
    int status = start(path, err);
    pthread_mutex_unlock(&lock);
    return status;
}

/* A command that the thread is at is waited for, but not for ever. */
static bool join(void)
{
    static const uint64_t one = 1;
    struct timespec until;
    while (write(monitor.polled[WAKE].fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_SECONDS;
    return pthread_timedjoin_np(monitor.thread, NULL, &until) == 0;
}

void gt_trace_monitor_stop(void)
{
    pthread_mutex_lock(&lock);
    if (monitor.running && join())
        close_all();
    pthread_mutex_unlock(&lock);
}

static void __attribute__((destructor)) stop_at_exit(void)
{
    if (!gt_events_thread_begin) /* else who started it stops it: the descriptors are not here */
        gt_trace_monitor_stop();
}
