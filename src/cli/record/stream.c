/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording into one stream: see stream.h. */
#include "cli/record/stream.h"

#include "cli/amount.h"

#include <string.h>
#include <sys/stat.h>

#define SOCKET "unix:"

static bool is_socket(const struct gt_recording *r)
{
    return g_str_has_prefix(r->shown, SOCKET);
}

char *gt_record_stream_target(const struct gt_recording *r)
{
    if (!is_socket(r))
        return g_strdup(r->output);
    g_autofree char *path = g_canonicalize_filename(r->shown + strlen(SOCKET), NULL);
    return g_strconcat(SOCKET, path, NULL);
}

int gt_record_stream_check(struct gt_recording *r, const char *stream, struct gt_error *err)
{
    struct stat st;
    if (is_socket(r))
        return 0;
    if (stat(r->output, &st) == 0 && S_ISDIR(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s is a directory; %s is a file", r->shown, stream);
    return gt_record_output_mark(r, err);
}

bool gt_record_stream_finish(const struct gt_recording *r, const char *command)
{
    struct stat st;
    if (is_socket(r))
        return true;
    if (!gt_record_output_has_begun(r))
        return false;
    if (r->opt->quiet || stat(r->output, &st) != 0)
        return true;
    g_autofree char *size = gt_amount_short((uint64_t)st.st_size);
    g_autofree char *shown = gt_record_output_quote(r);
    if (st.st_size > 0 || !S_ISREG(st.st_mode))
        gt_record_say("%sB, %.1f s; view it with: %s %s", size, r->seconds, command, shown);
    else
        gt_record_say("nothing was recorded: %s is empty", r->shown);
    return true;
}
