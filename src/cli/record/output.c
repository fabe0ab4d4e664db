/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `record`, before and after the run: see recording.h. */
#include "cli/record/recording.h"

#include "calls/file/file.h"
#include "calls/file/work.h"
#include "recording/directory/dir.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static void mark(const struct gt_record_recording *r, struct gt_repair_mark *out)
{
    g_autofree char *folder = g_path_get_dirname(r->output);
    g_autofree char *name = g_path_get_basename(r->output);
    gt_repair_mark(folder, name, out);
}

/* The file made in the folder, whether it stays or not. */
static void watch(struct gt_record_recording *r, const char *folder)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd >= 0 && inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) {
        close(fd);
        fd = -1;
    }
    r->folder_events = MAX(fd, 0);
}

int gt_record_output_mark(struct gt_record_recording *r, struct gt_error *err)
{
    struct stat st;
    g_autofree char *folder = g_path_get_dirname(r->output);
    mark(r, &r->output_before);
    if (lstat(r->output, &st) != 0 && access(folder, W_OK | X_OK) != 0)
        return gt_error_errno(err, errno, "%s: cannot be made in %s", r->shown, folder);
    watch(r, folder);
    return 0;
}

/* A file where a directory is, or is meant. */
static int refuse_directory(const struct gt_record_recording *r, bool there, struct gt_error *err)
{
    const struct gt_record_options *o = r->opt;
    bool either = !o->format && !o->last && !o->split && !o->size_limit;
    return gt_error_set(
        err, GT_E_EXISTS, "%s: %s a directory, and the recording is one file: name another%s",
        r->shown, there ? "is" : "names",
        either ? "; or record a directory that uftrace reads, with --format uftrace" : "");
}

int gt_record_output_check(const struct gt_record_recording *r, struct gt_error *err)
{
    struct stat st;
    bool there = stat(r->output, &st) == 0;
    if (r->compact && ((there && S_ISDIR(st.st_mode)) || g_str_has_suffix(r->shown, "/")))
        return refuse_directory(r, there, err);
    if (r->compact)
        return r->opt->split ? gt_compact_work_check_set(r->output, err)
                             : gt_compact_work_check(r->output, err);
    if (there && S_ISREG(st.st_mode) && gt_compact_file_check(r->output, NULL) == 0)
        return gt_error_set(err, GT_E_EXISTS,
                            "%s: is a compact recording, and the new one is a directory: name "
                            "another, or leave --format uftrace out",
                            r->shown);
    return gt_uftrace_dir_check(r->output, err);
}

bool gt_record_output_has_begun(const struct gt_record_recording *r)
{
    struct stat st;
    struct gt_repair_mark after;
    mark(r, &after);
    if (stat(r->output, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return true; /* a device or a pipe has no such mark */
    return after.ino && !gt_repair_mark_same(&r->output_before, &after);
}

static bool is_made(const struct inotify_event *e, const char *name)
{
    return e->len && strcmp(e->name, name) == 0;
}

bool gt_record_output_is_removed(struct gt_record_recording *r)
{
    char events[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
    g_autofree char *name = g_path_get_basename(r->output);
    ssize_t n;
    while (r->folder_events && (n = read(r->folder_events, events, sizeof events)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const void *)(events + at);
            r->made |= is_made(e, name);
            at += (ssize_t)(sizeof *e + e->len);
        }
    return r->made && access(r->output, F_OK) != 0;
}

char *gt_record_output_quote(const struct gt_record_recording *r)
{
    bool plain =
        strspn(r->shown, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+,=@") == strlen(r->shown);
    return plain ? g_strdup(r->shown) : g_shell_quote(r->shown);
}
