/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a trace: see input.h. */
#include "events/library/read/input.h"

#include "events/library/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 256 << 10 };

int gt_events_input_open(struct gt_events_input *in, const char *path, struct gt_trace_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    *in = (struct gt_events_input){.path = standard ? "standard input" : path, .own = !standard};
    in->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0)
        return gt_events_fail_errno(err, errno, "%s: cannot be opened", path);
    in->data = malloc(ROOM);
    in->room = ROOM;
    if (in->data)
        return 0;
    gt_events_input_close(in);
    return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", path);
}

void gt_events_input_close(struct gt_events_input *in)
{
    if (in->own && in->fd >= 0)
        close(in->fd);
    free(in->data);
    in->data = NULL;
    in->fd = -1;
}

/* What is left comes to the front of a buffer of at least n bytes. */
static bool make_room(struct gt_events_input *in, size_t n)
{
    size_t left = gt_events_input_left(in);
    if (n > in->room) {
        uint8_t *data = realloc(in->data, n);
        if (!data)
            return false;
        in->data = data;
        in->room = n;
    }
    memmove(in->data, in->data + in->start, left);
    in->start = 0;
    in->end = left;
    return true;
}

int gt_events_input_need(struct gt_events_input *in, size_t n, struct gt_trace_error *err)
{
    if (gt_events_input_left(in) >= n)
        return 1;
    if (!make_room(in, n))
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", in->path);
    while (in->end < n && !in->ended) {
        if (in->before_wait)
            in->before_wait(in->self);
        ssize_t done = read(in->fd, in->data + in->end, in->room - in->end);
        if (done < 0 && errno != EINTR)
            return gt_events_fail_errno(err, errno, "%s: cannot be read", in->path);
        in->ended = done == 0;
        in->end += done > 0 ? (size_t)done : 0;
    }
    return in->end >= n;
}
