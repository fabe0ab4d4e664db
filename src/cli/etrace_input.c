/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an etrace stream comes from: see etrace_input.h. */
#include "cli/etrace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- a socket ------------------------------------------------------------------------------ */

/* Of the socket that we made; the handler may only use this. */
static char made_path[sizeof((struct sockaddr_un *)0)->sun_path];

static void remove_and_die(int signal)
{
    unlink(made_path);
    raise(signal); /* the handler was for one time */
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* The first of them calls the handler. */
static void on_signals(void (*handler)(int))
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND}, now;
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup */
            sigaction(signals[i], &a, NULL);
}

static int new_socket(struct gt_error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? gt_error_errno(err, errno, "a socket cannot be made") : fd;
}

/* Nobody listens there: takes the place, and what a former run left, if that is a socket. */
static int listen_at(struct gt_etrace_input *in, const struct sockaddr_un *a, struct gt_error *err)
{
    struct stat st;
    if (lstat(a->sun_path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode))
            return gt_error_set(err, GT_E_EXISTS, "%s: is there already, and no socket", in->name);
        unlink(a->sun_path);
    }
    int fd = new_socket(err);
    if (fd < 0)
        return fd;
    in->listener = fd;
    if (bind(fd, (const struct sockaddr *)a, sizeof *a) != 0 || listen(fd, 1) != 0)
        return gt_error_errno(err, errno, "%s: cannot be listened at", in->name);
    memcpy(made_path, a->sun_path, sizeof made_path);
    on_signals(remove_and_die);
    return 0;
}

static int open_socket(struct gt_etrace_input *in, const char *path, struct gt_error *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof a.sun_path)
        return gt_error_set(err, GT_E_RANGE,
                            "%s: a socket's path has 1 to %zu bytes, this one has %zu", in->name,
                            sizeof a.sun_path - 1, len);
    memcpy(a.sun_path, path, len);
    in->fd = new_socket(err);
    if (in->fd < 0)
        return in->fd;
    if (connect(in->fd, (const struct sockaddr *)&a, sizeof a) == 0)
        return 0;
    int e = errno;
    close(in->fd);
    in->fd = -1;
    if (e == ENOENT || e == ECONNREFUSED)
        return listen_at(in, &a, err);
    return gt_error_errno(err, e, "%s: cannot be connected to", in->name);
}

static void stop_listening(struct gt_etrace_input *in)
{
    if (in->listener < 0)
        return;
    if (made_path[0]) {
        unlink(made_path);
        on_signals(SIG_DFL);
        made_path[0] = '\0';
    }
    close(in->listener);
    in->listener = -1;
}

int gt_etrace_input_wait(struct gt_etrace_input *in, struct gt_error *err)
{
    do
        in->fd = accept4(in->listener, NULL, NULL, SOCK_CLOEXEC);
    while (in->fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    int status = in->fd < 0 ? gt_error_errno(err, errno, "%s: no writer", in->name) : 0;
    stop_listening(in);
    return status;
}

/* ---- the end by a signal ------------------------------------------------------------------- */

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

/* They are blocked but for where we wait: none comes between a look at the mark and a read. */
void gt_etrace_input_end_by_signal(struct gt_etrace_input *in)
{
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
        sigaddset(&mask, signals[i]);
    ended = 0;
    on_signals(end);
    in->by_signal = sigprocmask(SIG_BLOCK, &mask, &in->mask) == 0;
}

bool gt_etrace_input_was_ended(const struct gt_etrace_input *in)
{
    return in->by_signal && ended;
}

static void stop_catching(struct gt_etrace_input *in)
{
    if (!in->by_signal)
        return;
    on_signals(SIG_DFL);
    sigprocmask(SIG_SETMASK, &in->mask, NULL);
    in->by_signal = false;
}

/* ---- all kinds ----------------------------------------------------------------------------- */

int gt_etrace_input_open(struct gt_etrace_input *in, const char *where, struct gt_error *err)
{
    *in = (struct gt_etrace_input){.fd = -1, .listener = -1};
    if (strcmp(where, "-") == 0) {
        in->name = g_strdup("standard input");
        in->fd = STDIN_FILENO;
        return 0;
    }
    in->name = g_strdup(where);
    if (g_str_has_prefix(where, "unix:"))
        return open_socket(in, where + strlen("unix:"), err);
    struct stat st;
    in->fd = open(where, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0 && errno == ENXIO && stat(where, &st) == 0 && S_ISSOCK(st.st_mode))
        return gt_error_set(err, GT_E_IO, "%s: is a socket: say unix:%s", where, where);
    if (in->fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", where);
    return 0;
}

int gt_etrace_input_look(struct gt_etrace_input *in, struct gt_error *err)
{
    while (in->n < sizeof in->first) {
        ssize_t got = read(in->fd, in->first + in->n, sizeof in->first - in->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gt_error_errno(err, errno, "%s: cannot be read", in->name);
        if (got == 0)
            return 0;
        in->n += (size_t)got;
    }
    return 0;
}

ssize_t gt_etrace_input_read(void *self, void *out, size_t n)
{
    struct gt_etrace_input *in = self;
    size_t kept = in->n - in->at;
    if (kept) {
        kept = n < kept ? n : kept;
        memcpy(out, in->first + in->at, kept);
        in->at += kept;
        return (ssize_t)kept;
    }
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    if (in->idle && poll(&p, 1, 0) == 0)
        in->idle(in->idle_self);
    if (in->by_signal && (ended || (ppoll(&p, 1, NULL, &in->mask) < 0 && ended)))
        return 0;
    return read(in->fd, out, n);
}

void gt_etrace_input_close(struct gt_etrace_input *in)
{
    stop_catching(in);
    stop_listening(in);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    g_free(in->name);
    in->name = NULL;
}
