/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of this machine: see process_stat.h. */
#include "base/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool gt_process_stat(unsigned pid, struct gt_process_stat *out)
{
    char path[32], text[1024];
    *out = (struct gt_process_stat){0};
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *after = strrchr(text, ')'); /* the name before it may have any */
    struct gt_process_stat got;
    if (!after || sscanf(after,
                         ") %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                         "%*d %llu",
                         &got.state, &got.parent, &got.began) != 3)
        return false;
    *out = got;
    return true;
}
