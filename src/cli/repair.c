/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace repair`: makes a directory whole that a killed recording left. */
#include "cli/command.h"
#include "cli/rescue.h"

#include <stdio.h>

static int run_repair(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    (void)options;
    if (n == 0)
        return gt_command_usage_error(self, "needs the directory of a recording");
    int status = GT_EXIT_DONE;
    for (size_t i = 0; i < n; i++) {
        struct gt_rescue done;
        struct gt_error err = {0};
        int result = gt_rescue_dir(operands[i], &done, &err);
        g_autofree char *what = gt_rescue_text(&done);
        if (result == 0 || done.recovered || done.repair.files)
            printf("%s: %s\n", operands[i], what);
        if (result < 0)
            status = gt_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    }
    return status;
}

const struct gt_command gt_command_repair = {
    .name = "repair",
    .summary = "make a recording whole that was killed while it was written",
    .usage = (const char *const[]){"DIR...", NULL},
    .paragraphs =
        (const char *const[]){
            "Copies records that had not reached their files yet, cuts half-written ones off, ends"
            " the functions that were still running and writes missing text files anew. 'record'"
            " does the same by itself when QEMU dies; this is for the case that guesttrace died"
            " with it. A second call changes nothing.",
            NULL},
    .operands = GT_OPERANDS_DIRS,
    .run = run_repair,
};
