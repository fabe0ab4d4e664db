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

/* The way to a file without a name. */
static char *way_to(int fd)
{
    return g_strdup_printf("/proc/self/fd/%d", fd);
}

static bool give_name(int fd, const char *name)
{
    g_autofree char *way = way_to(fd);
    return linkat(AT_FDCWD, way, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

static int open_without_name(const char *folder)
{
    return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

/* A file that has no name until it is complete: of a process that is killed nothing stays. -1: the
 * file system has no such files, or cannot name one later: another one, which gets the name and
 * loses it, shows that. */
static int open_unnamed(const char *folder, const char *tmp)
{
    const int trial = open_without_name(folder);
    if (trial < 0)
        return -1;
    unlink(tmp); /* of a process of this number that was killed */
    const bool can = give_name(trial, tmp) && unlink(tmp) == 0;
    close(trial);
    return can ? open_without_name(folder) : -1;
}

int gt_cli_output_file_open(struct gt_cli_output_file *f, const char *path, struct gt_error *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (gt_compact_work_check_replace(path, err) < 0) {
        *f = (struct gt_cli_output_file){.fd = -1};
        return err->status;
    }
    g_autofree char *real = there ? realpath(path, NULL) : NULL; /* a link stays one */
    *f = (struct gt_cli_output_file){.fd = -1, .path = g_strdup(real ? real : path)};
    if (there && !S_ISREG(st.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        g_autofree char *folder = g_path_get_dirname(f->path);
        g_autofree char *name = g_path_get_basename(f->path);
        gt_file_remove_left_beside(f->path);
        f->tmp = g_strdup_printf("%s/.%s.%ld.tmp", folder, name, (long)getpid());
        f->fd = open_unnamed(folder, f->tmp);
        f->is_unnamed = f->fd >= 0;
        if (!f->is_unnamed)
            f->fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (f->fd >= 0)
        return 0;
    int status = gt_error_errno(err, errno, "%s: cannot be opened", path);
    g_free(f->path);
    g_free(f->tmp);
    return status;
}

int gt_cli_output_file_finish(struct gt_cli_output_file *f, bool keep, struct gt_error *err)
{
    int status = 0;
    if (f->is_unnamed && keep && !give_name(f->fd, f->tmp))
        status = gt_error_errno(err, errno, "%s: cannot be made", f->path);
    if (close(f->fd) != 0 && keep && status == 0)
        status = gt_error_errno(err, errno, "%s: cannot be written", f->path);
    keep = keep && status == 0;
    if (f->tmp && keep && rename(f->tmp, f->path) != 0)
        status = gt_error_errno(err, errno, "%s: cannot be made", f->path);
    if (f->tmp && (!keep || status < 0)) /* one without a name goes by itself */
        unlink(f->tmp);
    g_free(f->path);
    g_free(f->tmp);
    return status;
}

bool gt_cli_output_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}
