/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The prompt of `guesttrace ctl` in a build without libedit: see ctl.h. */
#include "cli/ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>

int gt_cli_ctl_prompt(struct gt_cli_ctl *c, int (*take)(void *self, const char *line), void *self)
{
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    (void)c;
    while (status == 0) {
        fputs("(guesttrace) ", stdout);
        fflush(stdout);
        if (getline(&line, &room, stdin) < 0)
            break;
        g_strstrip(line);
        if (*line)
            status = take(self, line);
    }
    putchar('\n');
    free(line);
    return status;
}
