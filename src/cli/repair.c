/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace repair`: repairs an interrupted recording. */
#include "calls/repair/repair.h"
#include "calls/repair/edit.h"
#include "cli/command.h"
#include "recording/file_kind.h"
#include "recording/texts/files.h"

#include <stdio.h>
#include <stdlib.h>

/* An empty or wrong directory has nothing to repair, and was given by mistake. */
static int check_recording(const char *dir, struct gt_error *err)
{
    struct gt_uftrace_dir d;
    int status = gt_uftrace_dir_open(&d, dir, err);
    if (status < 0)
        return status;
    return gt_recording_kind_is_recording(dir)
               ? 0
               : gt_recording_kind_refuse(dir, 0, "a recording of calls", err);
}

static void print(const char *path, const struct gt_repair_result *done)
{
    g_autofree char *what = gt_repair_text(done);
    printf("%s: %s\n", path, what);
    for (guint k = 0; done->texts && k < done->texts->len; k++)
        printf("%s/%s\n", path, (const char *)done->texts->pdata[k]);
}

/* The code that the plugin looked for, which `record` moves into the recording at its end. */
static void take_code_map(const char *path, const struct gt_repair_edit *edit)
{
    g_autofree char *left = g_strconcat(path, "." GT_CODE_MAP_FILE, NULL);
    g_autofree char *to = g_build_filename(edit->at.dir, GT_CODE_MAP_FILE, NULL);
    if (g_file_test(left, G_FILE_TEST_IS_REGULAR) && rename(left, to) == 0)
        printf("%s: %s was left beside it, and is in it now\n", path, GT_CODE_MAP_FILE);
}

/* What can be repaired is, and printed, whatever else fails. */
static int repair_one(const struct gt_cli_command *self, const char *path, struct gt_error *err)
{
    struct gt_repair_result done = {0};
    struct gt_repair_edit edit;
    struct gt_error second = {0};
    const struct gt_error_notices notices = gt_cli_command_notices(self);
    int status = gt_repair_edit_open(path, true, &notices, &edit, err);
    if (status < 0)
        return status;
    if (!edit.at.file && (status = check_recording(path, err)) < 0) {
        gt_repair_edit_close(&edit, false, NULL);
        return status;
    }
    take_code_map(path, &edit);
    status = gt_repair_recording(&edit, true, &notices, &done, err);
    if (edit.work.restored)
        printf("%s: the newest part was missing: an empty one is in its place\n", path);
    if (status == 0 || done.recovered || done.repair.files)
        print(path, &done);
    gt_repair_clear(&done);
    int closed = gt_repair_edit_close(&edit, true, &second);
    if (edit.at.file && edit.work.flight && *edit.work.snapshot && closed == 0)
        printf("%s: the last snapshot is %s\n", path, edit.work.snapshot);
    if (status == 0 && closed < 0)
        status = gt_error_set(err, closed, "%s", second.text);
    return status;
}

static int run_repair(const struct gt_cli_command *self, const void *options, size_t n,
                      char **operands)
{
    (void)options;
    if (n == 0)
        return gt_cli_command_usage_error(self, "needs a recording");
    int status = GT_EXIT_DONE;
    for (size_t i = 0; i < n; i++) {
        struct gt_error err = {0};
        if (repair_one(self, operands[i], &err) < 0)
            status = gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    }
    return status;
}

const struct gt_cli_command gt_cli_command_repair = {
    .name = "repair",
    .summary = "repair a recording that was interrupted",
    .usage = (const char *const[]){"RECORDING...", NULL},
    .paragraphs =
        (const char *const[]){
            "Copies records that had not reached their files yet, cuts incomplete ones off, ends "
            "the functions that were still running, and repairs text files that are missing, cut "
            "or damaged: info, task.txt, maps, symbols, source lines, statistics. 'record' does "
            "the same when QEMU crashes or is killed; use repair if guesttrace was killed as well. "
            "A second call changes nothing. What another process still records, or changes, is "
            "left "
            "alone.",
            NULL},
    .operands = GT_OPERANDS_FILES,
    .run = run_repair,
};
