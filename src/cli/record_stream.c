/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording into one stream: see record_stream.h. */
#include "cli/record_stream.h"

#include "cli/amount.h"

#include <string.h>
#include <sys/stat.h>

#define SOCKET "unix:"

char *gt_record_stream_target(const struct gt_recording *r)
{
    if (!g_str_has_prefix(r->shown, SOCKET))
        return g_strdup(r->output);
    g_autofree char *path = g_canonicalize_filename(r->shown + strlen(SOCKET), NULL);
    return g_strconcat(SOCKET, path, NULL);
}

int gt_record_stream_check(const struct gt_recording *r, const char *stream, struct gt_error *err)
{
    struct stat st;
    if (stat(r->output, &st) == 0 && S_ISDIR(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s is a directory; %s is a file", r->shown, stream);
    return 0;
}

void gt_record_stream_say(const struct gt_recording *r, const char *command)
{
    struct stat st;
    bool file = !g_str_has_prefix(r->shown, SOCKET);
    if (r->opt->quiet || !file || stat(r->output, &st) != 0)
        return;
    g_autofree char *size = gt_amount_short((uint64_t)st.st_size);
    g_autofree char *shown = g_shell_quote(r->shown);
    bool plain =
        strspn(r->shown, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+,=@") == strlen(r->shown);
    gt_record_say("%sB, %.1f s; to see it: %s %s", size, r->seconds, command,
                  plain ? r->shown : shown);
}
