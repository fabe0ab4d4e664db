/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An info file: what is read can be written, and is then read the same. */
#include "recording/directory/uftrace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gt_uftrace_info info, again;
    struct gt_error err;
    struct gt_text first = {0}, second = {0};
    if (gt_uftrace_info_read(data, size, &info, &err))
        return 0;
    if (gt_uftrace_info_write(&first, &info, NULL) == 0) {
        require(gt_uftrace_info_read(first.data, first.len, &again, NULL) == 0);
        require(again.n_tids == info.n_tids && again.cpus_possible == info.cpus_possible);
        require(gt_uftrace_info_write(&second, &again, NULL) == 0);
        /* Long values are cut once; a command line that was cut may be cut again. */
        require(first.len > 4000 ||
                (first.len == second.len && !memcmp(first.data, second.data, first.len)));
        gt_uftrace_info_free(&again);
    }
    gt_text_free(&first);
    gt_text_free(&second);
    gt_uftrace_info_free(&info);
    return 0;
}
