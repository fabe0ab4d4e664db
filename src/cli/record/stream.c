/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording into one stream: see stream.h. */
#include "cli/record/stream.h"

#include "base/file.h"
#include "cli/amount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET "unix:"

static bool is_socket(const struct gt_record_recording *r)
{
    return g_str_has_prefix(r->shown, SOCKET);
}

char *gt_record_stream_target(const struct gt_record_recording *r)
{
    if (!is_socket(r))
        return g_strdup(r->output);
    g_autofree char *path = g_canonicalize_filename(r->shown + strlen(SOCKET), NULL);
    return g_strconcat(SOCKET, path, NULL);
}

/* Another recording may be made there: a stream's has one lock, a trace's (src/events) another. */
static int check_use(const struct gt_record_recording *r, struct gt_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat st;
    bool regular = stat(r->output, &st) == 0 && S_ISREG(st.st_mode);
    int fd = regular ? open(r->output, O_RDONLY | O_CLOEXEC) : -1;
    int status = fd < 0 ? 0 : gt_file_take(fd, r->shown, err);
    if (status == 0 && fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        status = gt_error_set(
            err, GT_E_BUSY, "%s: process %d writes it; wait until that has ended, or name another",
            r->shown, (int)lock.l_pid);
    if (fd >= 0)
        close(fd);
    return status;
}

int gt_record_stream_check(struct gt_record_recording *r, const char *stream, struct gt_error *err)
{
    struct stat st;
    if (is_socket(r))
        return 0;
    if (stat(r->output, &st) == 0 && S_ISDIR(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s is a directory; %s is a file", r->shown, stream);
    gt_record_programs_mark(r);
    int status = gt_record_output_mark(r, err);
    return status < 0 ? status : check_use(r, err);
}

bool gt_record_stream_finish(const struct gt_record_recording *r, const char *command)
{
    struct stat st;
    if (is_socket(r))
        return true;
    if (!gt_record_output_has_begun(r))
        return false;
    if (r->opt->quiet || stat(r->output, &st) != 0)
        return true;
    g_autofree char *size = gt_cli_amount_short((uint64_t)st.st_size);
    g_autofree char *shown = gt_record_output_quote(r);
    if (st.st_size > 0 || !S_ISREG(st.st_mode))
        gt_record_say("%sB, %.1f s; view it with: %s %s", size, r->seconds, command, shown);
    else
        gt_record_say("nothing was recorded: %s is empty", r->shown);
    gt_record_programs_report(r);
    return true;
}
