/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that have arrived: see arrivals.h. A request is looked at, and stays in the socket.
 */
#include "cli/view/arrivals.h"

#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { AT_ONCE = 64 }; /* events, and connections that are accepted in a row */

struct arrival {
    int fd;
    gint64 due;
    struct sockaddr_in from;
    GList link; /* in the order in which they came, and are due */
};

struct gt_cli_view_arrivals {
    struct gt_cli_view_door door;
    int epoll, stop;
    GQueue list;
    GThread *thread;
};

static void leave(struct gt_cli_view_arrivals *a, struct arrival *c)
{
    epoll_ctl(a->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    g_queue_unlink(&a->list, &c->link);
}

static void drop(struct gt_cli_view_arrivals *a, struct arrival *c)
{
    leave(a, c);
    close(c->fd);
    g_free(c);
}

static bool watch(const struct gt_cli_view_arrivals *a, int fd, uint32_t events, void *what)
{
    struct epoll_event e = {.events = events, .data.ptr = what};
    return epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

/* False: there are none any more. */
static bool accept_one(struct gt_cli_view_arrivals *a)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    const int fd =
        accept4(a->door.listening, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && a->list.head) {
        drop(a, a->list.head->data);
        return true;
    }
    if (fd < 0)
        return false;
    struct arrival *c = g_new0(struct arrival, 1);
    c->fd = fd;
    c->from = from;
    c->due = g_get_monotonic_time() + GT_ARRIVALS_SECONDS * G_TIME_SPAN_SECOND;
    c->link.data = c;
    g_queue_push_tail_link(&a->list, &c->link);
    if (!watch(a, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, c))
        drop(a, c);
    else if (a->list.length > GT_ARRIVALS_MOST)
        drop(a, a->list.head->data);
    return true;
}

/* The part of a request that is there shows the token, or is all of its line and headers; or it is
 * longer than GT_ARRIVALS_BYTES. */
static bool is_enough(const struct gt_cli_view_arrivals *a, const char *text, size_t n)
{
    const char *space = strchr(text, ' ');
    return (space && a->door.knows(a->door.self, space + 1)) || strstr(text, "\r\n\r\n") ||
           strstr(text, "\n\n") || n == GT_ARRIVALS_BYTES;
}

static void look_at(struct gt_cli_view_arrivals *a, struct arrival *c, uint32_t events)
{
    char text[GT_ARRIVALS_BYTES + 1];
    const ssize_t n = recv(c->fd, text, GT_ARRIVALS_BYTES, MSG_PEEK | MSG_DONTWAIT);
    text[MAX(n, 0)] = '\0';
    if (n > 0 && is_enough(a, text, (size_t)n)) {
        leave(a, c);
        a->door.take(a->door.self, c->fd, (struct sockaddr *)&c->from, sizeof c->from);
        g_free(c);
    } else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
               events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        drop(a, c);
    }
}

/* Ends those that are late. Milliseconds until the next one is; -1: there is none. */
static int end_late(struct gt_cli_view_arrivals *a)
{
    const gint64 now = g_get_monotonic_time();
    struct arrival *first;
    while ((first = g_queue_peek_head(&a->list)) && first->due <= now)
        drop(a, first);
    return first ? (int)((first->due - now) / 1000 + 1) : -1;
}

/* Connections that came before are looked at between those that are new: each event is of one that
 * is there, as those that go meanwhile go after all events. */
static void *wait_for_all(void *self)
{
    struct gt_cli_view_arrivals *a = self;
    struct epoll_event event[AT_ONCE];
    for (;;) {
        const int n = epoll_wait(a->epoll, event, AT_ONCE, end_late(a));
        bool comes = false;
        for (int i = 0; i < n; i++) {
            if (event[i].data.ptr == a)
                return NULL;
            if (event[i].data.ptr)
                look_at(a, event[i].data.ptr, event[i].events);
            else
                comes = true;
        }
        for (int i = 0; comes && i < AT_ONCE; i++)
            comes = accept_one(a);
    }
}

int gt_cli_view_arrivals_open(const struct gt_cli_view_door *door,
                              struct gt_cli_view_arrivals **out, struct gt_error *err)
{
    struct gt_cli_view_arrivals *a = g_new0(struct gt_cli_view_arrivals, 1);
    a->door = *door;
    g_queue_init(&a->list);
    a->epoll = epoll_create1(EPOLL_CLOEXEC);
    a->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *out = NULL;
    int status = 0;
    if (a->epoll < 0 || a->stop < 0 || !watch(a, a->stop, EPOLLIN, a) ||
        !watch(a, door->listening, EPOLLIN, NULL))
        status = gt_error_errno(err, errno, "connections");
    if (status == 0 && !(a->thread = g_thread_try_new("arrivals", wait_for_all, a, NULL)))
        status = gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (status == 0)
        *out = a;
    else
        gt_cli_view_arrivals_close(a);
    return status;
}

void gt_cli_view_arrivals_close(struct gt_cli_view_arrivals *a)
{
    if (!a)
        return;
    if (a->thread) {
        eventfd_write(a->stop, 1);
        g_thread_join(a->thread);
    }
    while (a->list.head)
        drop(a, a->list.head->data);
    if (a->epoll >= 0)
        close(a->epoll);
    if (a->stop >= 0)
        close(a->stop);
    g_free(a);
}
