/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a split recording and its working directory: see work.h. */
#include "calls/file/work_parts.h"

#include "calls/file/gather.h"
#include "calls/file/set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls `each` for every file FILE.NUMBER, with which part it is. Below 0 ends that. */
static int for_each(const char *file,
                    int (*each)(void *self, const char *path, uint32_t number,
                                const struct gt_compact_part *part, struct gt_error *err),
                    void *self, struct gt_error *err)
{
    uint32_t *number;
    int64_t n = gt_compact_set_list(file, &number, err);
    int status = n < 0 ? (int)n : 0;
    for (int64_t i = 0; i < n && status == 0; i++) {
        char path[GT_COMPACT_PART_PATH];
        if (gt_compact_part_path(file, number[i], path) < 0)
            continue;
        const struct gt_compact_part part = gt_compact_part_at(path);
        status = each(self, path, number[i], &part, err);
    }
    free(number);
    return status;
}

/* ---- making room --------------------------------------------------------------------------- */

struct names {
    struct gt_compact_part part; /* of FILE */
    const char *old;             /* FILE.old; NULL: nothing is moved */
};

static bool is_of(const struct names *n, const struct gt_compact_part *part)
{
    return n->part.number && part->number && part->set == n->part.set;
}

static int refuse(void *self, const char *path, uint32_t number, const struct gt_compact_part *part,
                  struct gt_error *err)
{
    (void)number;
    if (is_of(self, part))
        return 0;
    return gt_error_set(err, GT_E_EXISTS,
                        "%s: has the name of a part, and does not belong to the recording "
                        "that is replaced: it is left alone, name another",
                        path);
}

int gt_compact_work_check_parts(const struct gt_compact_work *w, struct gt_error *err)
{
    struct names names = {.part = gt_compact_part_at(w->file)};
    return for_each(w->file, refuse, &names, err);
}

static int remove_part(void *self, const char *path, uint32_t number,
                       const struct gt_compact_part *part, struct gt_error *err)
{
    (void)number;
    if (is_of(self, part) && unlink(path) != 0 && errno != ENOENT)
        return gt_error_errno(err, errno, "%s: cannot be removed", path);
    return 0;
}

/* One that has the new name and is not a part stays, and the old part with its name as well. */
static int move_part(void *self, const char *path, uint32_t number,
                     const struct gt_compact_part *part, struct gt_error *err)
{
    const struct names *names = self;
    char to[GT_COMPACT_PART_PATH];
    struct stat st;
    if (!is_of(names, part))
        return 0;
    if (gt_compact_part_path(names->old, number, to) < 0 || lstat(to, &st) == 0 ||
        rename(path, to) != 0)
        return gt_error_set(err, GT_E_EXISTS, "%s: cannot be moved aside to %s; remove one of them",
                            path, to);
    return 0;
}

int gt_compact_work_move_parts(const struct gt_compact_work *w, const struct gt_compact_work *old,
                               struct gt_error *err)
{
    struct names from = {.part = gt_compact_part_at(w->file), .old = old->file};
    struct names gone = {.part = gt_compact_part_at(old->file)};
    int status = gone.part.number ? for_each(old->file, remove_part, &gone, err) : 0;
    if (status == 0 && from.part.number)
        status = for_each(w->file, move_part, &from, err);
    return status;
}

/* ---- finishing ----------------------------------------------------------------------------- */

/* Until no process has a block in work that belongs to it: see split.h. */
static int wait_for_blocks(const char *path, struct gt_error *err)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd = open(path, O_RDWR | O_CLOEXEC), e = fd < 0 ? errno : 0;
    while (!e && fcntl(fd, F_OFD_SETLKW, &l) != 0)
        e = errno == EINTR ? 0 : errno;
    if (fd >= 0)
        close(fd);
    return e ? gt_error_errno(err, e, "%s", path) : 0;
}

int gt_compact_work_finish_part(const struct gt_compact_work *w, uint32_t number,
                                struct gt_error *err)
{
    char path[GT_COMPACT_PART_PATH];
    if (gt_compact_part_path(w->file, number, path) < 0)
        return gt_error_set(err, GT_E_RANGE, "%s: path too long", w->file);
    int status = wait_for_blocks(path, err);
    return status < 0 ? status : gt_compact_gather(w->dir.path, path, 0, err);
}

static bool is_finished(const char *path)
{
    struct gt_compact_file f;
    if (gt_compact_file_open(path, &f, NULL) < 0)
        return false;
    bool ends = f.index_at && f.whole == f.size && f.n == f.index_blocks;
    gt_compact_file_close(&f);
    return ends;
}

struct finish {
    const struct gt_compact_work *work;
    struct names names;
};

static int finish_part(void *self, const char *path, uint32_t number,
                       const struct gt_compact_part *part, struct gt_error *err)
{
    const struct finish *f = self;
    struct stat a, b;
    /* Where a process was killed while it split, both names are of one file: FILE it stays. */
    if (stat(path, &a) == 0 && stat(f->work->file, &b) == 0 && a.st_ino == b.st_ino &&
        a.st_dev == b.st_dev)
        return unlink(path) == 0 ? 0 : gt_error_errno(err, errno, "%s", path);
    if (!is_of(&f->names, part) || is_finished(path))
        return 0;
    return gt_compact_work_finish_part(f->work, number, err);
}

int gt_compact_work_finish_parts(const struct gt_compact_work *w, struct gt_error *err)
{
    struct finish f = {w, {.part = gt_compact_part_at(w->file)}};
    return f.names.part.number ? for_each(w->file, finish_part, &f, err) : 0;
}

/* ---- a newest part that is missing ---------------------------------------------------------- */

/* The next part, which a process has begun that was killed between its two names (split.c). */
static bool take_begun(const struct gt_compact_work *w, const struct gt_compact_part *highest)
{
    char path[GT_COMPACT_PART_PATH + 256];
    bool taken = false;
    DIR *d = opendir(w->dir.path);
    for (const struct dirent *e; d && !taken && (e = readdir(d));) {
        const char *end = strrchr(e->d_name, '.');
        if (strncmp(e->d_name, ".guesttrace-", 12) != 0 || strcmp(end, ".part") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", w->dir.path, e->d_name);
        const struct gt_compact_part part = gt_compact_part_at(path);
        taken = part.set == highest->set && part.number == highest->number + 1 &&
                rename(path, w->file) == 0;
    }
    if (d)
        closedir(d);
    return taken;
}

/* Its number leaves out that of the one that is missing: readers report it as such. */
int gt_compact_work_restore(const struct gt_compact_work *w, struct gt_error *err)
{
    char next[GT_COMPACT_PART_PATH];
    struct gt_compact_part part = gt_compact_set_highest(w->file);
    int n = snprintf(next, sizeof next, "%s/.guesttrace-%d.part", w->dir.path, (int)getpid());
    if (part.number == 0 || part.number > UINT32_MAX - 2 || n >= (int)sizeof next)
        return gt_error_set(err, GT_E_RANGE, "%s: the newest part is missing", w->file);
    if (take_begun(w, &part))
        return 0;
    unlink(next); /* of a process of this number that was killed */
    part.number += 2;
    int status = gt_compact_part_create(next, &part, err);
    if (status == 0 && rename(next, w->file) != 0)
        status = gt_error_errno(err, errno, "%s", w->file);
    if (status < 0)
        unlink(next);
    return status;
}
