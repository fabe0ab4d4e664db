/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output file of a command: see output_file.h. */
#include "cli/output_file.h"

#include "base/file.h"
#include "calls/file/work.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int gt_output_file_open(struct gt_output_file *f, const char *path, struct gt_error *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (gt_compact_work_check_replace(path, err) < 0) {
        *f = (struct gt_output_file){.fd = -1};
        return err->status;
    }
    g_autofree char *real = there ? realpath(path, NULL) : NULL; /* a link stays one */
    *f = (struct gt_output_file){.fd = -1, .path = g_strdup(real ? real : path)};
    if (there && !S_ISREG(st.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        g_autofree char *folder = g_path_get_dirname(f->path);
        g_autofree char *name = g_path_get_basename(f->path);
        gt_file_remove_left_beside(f->path);
        f->tmp = g_strdup_printf("%s/.%s.%ld.tmp", folder, name, (long)getpid());
        f->fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (f->fd >= 0)
        return 0;
    int status = gt_error_errno(err, errno, "%s: cannot be opened", path);
    g_free(f->path);
    g_free(f->tmp);
    return status;
}

int gt_output_file_finish(struct gt_output_file *f, bool keep, struct gt_error *err)
{
    int status = 0;
    if (close(f->fd) != 0 && keep)
        status = gt_error_errno(err, errno, "%s: cannot be written", f->path);
    keep = keep && status == 0;
    if (f->tmp && keep && rename(f->tmp, f->path) != 0)
        status = gt_error_errno(err, errno, "%s: cannot be made", f->path);
    if (f->tmp && (!keep || status < 0))
        unlink(f->tmp);
    g_free(f->path);
    g_free(f->tmp);
    return status;
}

bool gt_output_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}
