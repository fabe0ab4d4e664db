/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open connections: see connections.h. A thread ends those that are late. */
#include "cli/view/connections.h"

#include <glib.h>
#include <sys/socket.h>

struct gt_cli_view_connection {
    int socket;
    gint64 due; /* when its request has to be there; G_MAXINT64: it is there */
    bool is_known, is_ended;
    GList link; /* in the order in which they came */
};

struct gt_cli_view_connections {
    GMutex lock;
    GCond changed;
    GQueue list;
    GThread *thread;
    bool stop;
};

/* Its thread reads the end of the connection, and closes it. */
static void end(struct gt_cli_view_connection *c)
{
    shutdown(c->socket, SHUT_RDWR);
    c->is_ended = true;
    c->due = G_MAXINT64;
}

static void set_due(struct gt_cli_view_connections *all, struct gt_cli_view_connection *c)
{
    const int seconds = c->is_known ? GT_CONNECTIONS_NEXT_SECONDS : GT_CONNECTIONS_REQUEST_SECONDS;
    c->due = c->is_ended ? G_MAXINT64 : g_get_monotonic_time() + seconds * G_TIME_SPAN_SECOND;
    g_cond_signal(&all->changed);
}

static void *watch(void *self)
{
    struct gt_cli_view_connections *all = self;
    g_mutex_lock(&all->lock);
    while (!all->stop) {
        const gint64 now = g_get_monotonic_time();
        gint64 next = G_MAXINT64;
        for (GList *at = all->list.head; at; at = at->next) {
            struct gt_cli_view_connection *c = at->data;
            if (c->due <= now)
                end(c);
            next = MIN(next, c->due);
        }
        if (next == G_MAXINT64)
            g_cond_wait(&all->changed, &all->lock);
        else
            g_cond_wait_until(&all->changed, &all->lock, next);
    }
    g_mutex_unlock(&all->lock);
    return NULL;
}

struct gt_cli_view_connections *gt_cli_view_connections_create(void)
{
    struct gt_cli_view_connections *all = g_new0(struct gt_cli_view_connections, 1);
    g_mutex_init(&all->lock);
    g_cond_init(&all->changed);
    g_queue_init(&all->list);
    all->thread = g_thread_try_new("connections", watch, all, NULL);
    if (all->thread)
        return all;
    gt_cli_view_connections_destroy(all);
    return NULL;
}

void gt_cli_view_connections_destroy(struct gt_cli_view_connections *all)
{
    if (!all)
        return;
    g_mutex_lock(&all->lock);
    all->stop = true;
    g_cond_signal(&all->changed);
    g_mutex_unlock(&all->lock);
    if (all->thread)
        g_thread_join(all->thread);
    g_cond_clear(&all->changed);
    g_mutex_clear(&all->lock);
    g_free(all);
}

/* Ends the oldest ones that have not shown the token, where there are too many. */
static void make_room(struct gt_cli_view_connections *all)
{
    struct gt_cli_view_connection *oldest = NULL;
    unsigned n = 0;
    for (GList *at = all->list.tail; at; at = at->prev) {
        struct gt_cli_view_connection *c = at->data;
        if (c->is_known || c->is_ended)
            continue;
        oldest = c;
        n++;
    }
    if (n > GT_CONNECTIONS_UNKNOWN)
        end(oldest);
}

struct gt_cli_view_connection *gt_cli_view_connection_open(struct gt_cli_view_connections *all,
                                                           int socket)
{
    struct gt_cli_view_connection *c = g_new0(struct gt_cli_view_connection, 1);
    c->socket = socket;
    c->link.data = c;
    g_mutex_lock(&all->lock);
    g_queue_push_tail_link(&all->list, &c->link);
    set_due(all, c);
    make_room(all);
    g_mutex_unlock(&all->lock);
    return c;
}

void gt_cli_view_connection_close(struct gt_cli_view_connections *all,
                                  struct gt_cli_view_connection *c)
{
    g_mutex_lock(&all->lock);
    g_queue_unlink(&all->list, &c->link);
    g_mutex_unlock(&all->lock);
    g_free(c);
}

void gt_cli_view_connection_know(struct gt_cli_view_connections *all,
                                 struct gt_cli_view_connection *c)
{
    g_mutex_lock(&all->lock);
    c->is_known = true;
    g_mutex_unlock(&all->lock);
}

void gt_cli_view_connection_busy(struct gt_cli_view_connections *all,
                                 struct gt_cli_view_connection *c, bool busy)
{
    g_mutex_lock(&all->lock);
    if (busy)
        c->due = G_MAXINT64;
    else
        set_due(all, c);
    g_mutex_unlock(&all->lock);
}
