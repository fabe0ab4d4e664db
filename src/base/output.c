/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffered text output: see output.h. */
#include "base/output.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { PIPE_SIZE = 1 << 20 }; /* what a user may have */

void gt_output_init(struct gt_output *o, int fd)
{
    o->fd = fd;
    o->failed = 0;
    o->fill = 0;
    /* In a small one the reader and we take turns instead of working side by side. */
    int size = fcntl(fd, F_GETPIPE_SZ);
    if (size > 0 && size < PIPE_SIZE)
        fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE);
}

static void write_all(struct gt_output *o, const char *data, size_t n)
{
    while (n && !o->failed) {
        ssize_t done = write(o->fd, data, n);
        if (done < 0 && errno != EINTR)
            o->failed = errno;
        if (done > 0) {
            data += done;
            n -= (size_t)done;
        }
    }
}

void gt_output_flush(struct gt_output *o)
{
    write_all(o, o->buf, o->fill);
    o->fill = 0;
}

int gt_output_finish(struct gt_output *o, const char *name, struct gt_error *err)
{
    gt_output_flush(o);
    if (o->failed)
        return gt_error_errno(err, o->failed, "%s: cannot be written", name);
    return 0;
}

void gt_output_through(struct gt_output *o, const void *data, size_t n)
{
    gt_output_flush(o);
    write_all(o, data, n);
}

void gt_output_bytes(struct gt_output *o, const void *data, size_t n)
{
    if (n > GT_OUTPUT_SIZE) {
        gt_output_through(o, data, n);
        return;
    }
    char *p = gt_output_room(o, n);
    if (n)
        memcpy(p, data, n);
    gt_output_end(o, p + n);
}

void gt_output_text(struct gt_output *o, const char *text)
{
    gt_output_bytes(o, text, strlen(text));
}

void gt_output_clean(struct gt_output *o, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        char *p = gt_output_room(o, 1);
        *p = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f ? '?' : text[i];
        gt_output_end(o, p + 1);
    }
}

void gt_output_decimal(struct gt_output *o, uint64_t v)
{
    gt_output_end(o, gt_text_decimal_put(gt_output_room(o, GT_DECIMAL_SIZE), v));
}
