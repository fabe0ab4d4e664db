/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of a command that reads a stream: see input.h. */
#include "recording/input.h"

#include "recording/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a socket ------------------------------------------------------------------------------ */

/* Descriptors that we wait for. */
static int blocking(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

static int open_socket(struct gt_recording_input *in, const char *path, struct gt_error *err)
{
    int status = gt_socket_check_path(path, err);
    if (status == 0)
        status = gt_socket_listener_connect_or_open(&in->listener, &in->fd, path, err);
    in->fd = blocking(in->fd);
    return status;
}

int gt_recording_input_wait(struct gt_recording_input *in, struct gt_error *err)
{
    struct pollfd p = {.fd = in->listener.fd, .events = POLLIN};
    do {
        poll(&p, 1, -1);
        in->fd = blocking(gt_socket_listener_accept(&in->listener));
    } while (in->fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN));
    int status = in->fd < 0 ? gt_error_errno(err, errno, "%s: no writer", in->name) : 0;
    gt_socket_listener_close(&in->listener);
    return status;
}

bool gt_recording_input_was_ended(const struct gt_recording_input *in)
{
    return in->end && *in->end->ended;
}

/* ---- all kinds ----------------------------------------------------------------------------- */

int gt_recording_input_open(struct gt_recording_input *in, const char *where, struct gt_error *err)
{
    *in = (struct gt_recording_input){.fd = -1, .listener.fd = -1};
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
        return gt_error_set(err, GT_E_IO, "%s: is a socket: use unix:%s", where, where);
    if (in->fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", where);
    return 0;
}

int gt_recording_input_look(struct gt_recording_input *in, struct gt_error *err)
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

ssize_t gt_recording_input_read(void *self, void *out, size_t n)
{
    struct gt_recording_input *in = self;
    size_t ahead = in->n - in->at;
    if (ahead) {
        ahead = n < ahead ? n : ahead;
        memcpy(out, in->first + in->at, ahead);
        in->at += ahead;
        return (ssize_t)ahead;
    }
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    if (in->copied)
        return read(in->fd, out, n);
    if (in->idle && poll(&p, 1, 0) == 0)
        in->idle(in->idle_self);
    if (gt_recording_input_was_ended(in) ||
        (in->end && ppoll(&p, 1, NULL, &in->end->mask) < 0 && gt_recording_input_was_ended(in)))
        return 0;
    return read(in->fd, out, n);
}

/* ---- more than once ------------------------------------------------------------------------ */

static int copy_to(struct gt_recording_input *in, int fd, const char *path, struct gt_error *err)
{
    static char buf[1 << 16];
    for (;;) {
        ssize_t n = gt_recording_input_read(in, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gt_error_errno(err, errno, "%s: cannot be read", in->name);
        if (n == 0)
            return 0;
        for (ssize_t at = 0, put; at<n; at += put> 0 ? put : 0) {
            put = write(fd, buf + at, (size_t)(n - at));
            if (put < 0 && errno != EINTR)
                return gt_error_errno(err, errno, "%s: cannot be kept in %s", in->name, path);
        }
    }
}

int gt_recording_input_keep(struct gt_recording_input *in, struct gt_error *err)
{
    struct stat st;
    g_autofree char *path = NULL;
    if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        in->start = lseek(in->fd, 0, SEEK_CUR) - (off_t)in->n;
        return 0;
    }
    int fd = g_file_open_tmp("guesttrace-XXXXXX", &path, NULL);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be kept in %s", in->name, g_get_tmp_dir());
    unlink(path);
    int status = copy_to(in, fd, path, err);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = fd;
    in->copied = true;
    return status < 0 ? status : gt_recording_input_rewind(in, err);
}

int gt_recording_input_rewind(struct gt_recording_input *in, struct gt_error *err)
{
    in->at = in->n = 0;
    if (lseek(in->fd, in->start, SEEK_SET) < 0)
        return gt_error_errno(err, errno, "%s: cannot be read again", in->name);
    return 0;
}

void gt_recording_input_close(struct gt_recording_input *in)
{
    gt_socket_listener_close(&in->listener);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    g_free(in->name);
    in->name = NULL;
}

int gt_recording_input_start(const struct gt_error_notices *notices, const char *where,
                             struct gt_recording_input *in, struct gt_error *err)
{
    if (g_file_test(where, G_FILE_TEST_IS_DIR)) {
        *in = (struct gt_recording_input){.fd = -1, .listener.fd = -1};
        return gt_recording_kind_refuse(where, 0, "a file", err);
    }
    int status = gt_recording_input_open(in, where, err);
    if (status == 0 && in->listener.fd >= 0) {
        gt_error_notice(notices, "%s: waiting for a writer", where);
        status = gt_recording_input_wait(in, err);
    }
    return status;
}

int gt_recording_input_check(const struct gt_recording_input *in, unsigned reads,
                             const char *expected, struct gt_error *err)
{
    return gt_recording_kind_check(in->name, in->first, in->n, reads, expected, err);
}
