/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of calls without a name: see default_recording.h. */
#include "cli/default_recording.h"

#include "gtrace/gtrace.h"

const char *gt_cli_default_recording(const struct gt_cli_command *self, const char *given,
                                     bool quiet)
{
    if (given)
        return given;
    const int64_t file = gtrace_written(GT_DEFAULT_FILE);
    const int64_t directory = gtrace_written(GT_DEFAULT_DIRECTORY);
    const bool has_file = file >= 0, has_directory = directory >= 0;
    const bool take_file = has_file && directory <= file;
    if (has_file && has_directory && !quiet)
        gt_cli_command_fail(self, 0, "%s is taken: it is newer than %s",
                            take_file ? GT_DEFAULT_FILE : GT_DEFAULT_DIRECTORY,
                            take_file ? GT_DEFAULT_DIRECTORY : GT_DEFAULT_FILE);
    return take_file ? GT_DEFAULT_FILE : has_directory ? GT_DEFAULT_DIRECTORY : NULL;
}

struct gt_error_notices gt_cli_default_notices(const struct gt_cli_command *self, bool quiet)
{
    return quiet ? (struct gt_error_notices){0} : gt_cli_command_notices(self);
}

int gt_cli_default_recording_missing(const struct gt_cli_command *self)
{
    return gt_cli_command_usage_error(self, "needs a recording: there is no " GT_DEFAULT_FILE
                                            " and no " GT_DEFAULT_DIRECTORY " here");
}

/* The argument taken for a recording is rather a function of the one that is here. */
static bool is_function(const struct gt_cli_command *self, const char *path)
{
    return !strchr(path, '/') && !g_str_has_suffix(path, ".gtrace") &&
           !g_str_has_suffix(path, ".data") && gt_cli_default_recording(self, NULL, true);
}

void gt_cli_default_recording_explain(const struct gt_cli_command *self, const char *path,
                                      struct gt_error *err)
{
    if (err->status != GT_E_NOT_FOUND || !is_function(self, path))
        return;
    const struct gt_error why = *err;
    gt_error_set(err, why.status, "%s; a function is named with an option: -F '%s'", why.text,
                 path);
}
