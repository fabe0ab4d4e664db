/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary execlogs as a source: see execlog_input.h. */
#include "execlog/dump/execlog_input.h"

#include <sys/stat.h>
#include <unistd.h>

static bool seek(void *self, uint64_t offset)
{
    struct gt_input *in = self;
    if (!gt_execlog_input_size(in) || lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
        return false;
    in->at = in->n;
    return true;
}

struct gt_execlog_source gt_execlog_input_source(struct gt_input *in)
{
    return (struct gt_execlog_source){in->name, gt_input_read, seek, in};
}

uint64_t gt_execlog_input_size(const struct gt_input *in)
{
    struct stat st;
    return fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size
                                                                            : 0;
}
