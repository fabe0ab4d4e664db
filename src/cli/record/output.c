/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `record`, before and after the run: see recording.h. */
#include "cli/record/recording.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void mark(const struct gt_recording *r, struct gt_recording_mark *out)
{
    g_autofree char *folder = g_path_get_dirname(r->output);
    g_autofree char *name = g_path_get_basename(r->output);
    gt_recording_mark(folder, name, out);
}

int gt_record_output_mark(struct gt_recording *r, struct gt_error *err)
{
    struct stat st;
    g_autofree char *folder = g_path_get_dirname(r->output);
    mark(r, &r->output_before);
    if (lstat(r->output, &st) != 0 && access(folder, W_OK | X_OK) != 0)
        return gt_error_errno(err, errno, "%s: cannot be made in %s", r->shown, folder);
    return 0;
}

bool gt_record_output_has_begun(const struct gt_recording *r)
{
    struct stat st;
    struct gt_recording_mark after;
    mark(r, &after);
    if (stat(r->output, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return true; /* a device or a pipe has no such mark */
    return after.ino && !gt_recording_mark_same(&r->output_before, &after);
}

char *gt_record_output_quote(const struct gt_recording *r)
{
    bool plain =
        strspn(r->shown, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+,=@") == strlen(r->shown);
    return plain ? g_strdup(r->shown) : g_shell_quote(r->shown);
}
