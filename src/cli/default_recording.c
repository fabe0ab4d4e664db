/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of calls without a name: see default_recording.h. */
#include "cli/default_recording.h"

#include "calls/file/work.h"

#include <sys/stat.h>

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* When it was written last; `info` is one of its text files, which may not exist. False: it is not
 * there. */
static bool find(const char *path, const char *info, struct timespec *time)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    *time = st.st_mtim;
    if (stat(info, &st) == 0 && is_newer(&st.st_mtim, time))
        *time = st.st_mtim;
    return true;
}

const char *gt_default_recording(const struct gt_command *self, const char *given, bool quiet)
{
    struct timespec file, directory;
    if (given)
        return given;
    bool has_file = find(GT_DEFAULT_FILE, GT_DEFAULT_FILE GT_COMPACT_WORK_ENDING "/info", &file);
    bool has_directory = find(GT_DEFAULT_DIRECTORY, GT_DEFAULT_DIRECTORY "/info", &directory);
    bool take_file = has_file && (!has_directory || !is_newer(&directory, &file));
    if (has_file && has_directory && !quiet)
        gt_command_fail(self, 0, "%s is taken: it is newer than %s",
                        take_file ? GT_DEFAULT_FILE : GT_DEFAULT_DIRECTORY,
                        take_file ? GT_DEFAULT_DIRECTORY : GT_DEFAULT_FILE);
    return take_file ? GT_DEFAULT_FILE : has_directory ? GT_DEFAULT_DIRECTORY : NULL;
}

struct gt_notices gt_default_notices(const struct gt_command *self, bool quiet)
{
    return quiet ? (struct gt_notices){0} : gt_command_notices(self);
}

int gt_default_recording_missing(const struct gt_command *self)
{
    return gt_command_usage_error(self, "needs a recording: there is no " GT_DEFAULT_FILE
                                        " and no " GT_DEFAULT_DIRECTORY " here");
}

/* What was taken for a recording is rather a function of the one that is here. */
static bool is_function(const struct gt_command *self, const char *path)
{
    return !strchr(path, '/') && !g_str_has_suffix(path, ".gtrace") &&
           !g_str_has_suffix(path, ".data") && gt_default_recording(self, NULL, true);
}

void gt_default_recording_explain(const struct gt_command *self, const char *path,
                                  struct gt_error *err)
{
    if (err->status != GT_E_NOT_FOUND || !is_function(self, path))
        return;
    const struct gt_error why = *err;
    gt_error_set(err, why.status, "%s; a function is named with an option: -F '%s'", why.text,
                 path);
}
