/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map: what is read and can be written is then read the same. */
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
    struct gt_uftrace_map map, again;
    struct gt_error err;
    struct gt_text t = {0};
    if (gt_uftrace_map_read((const char *)data, size, &map, &err))
        return 0;
    if (gt_uftrace_map_write(&t, map.line, map.n, &err) == 0) {
        require(gt_uftrace_map_read(t.data, t.len, &again, NULL) == 0);
        require(again.n == map.n && again.has_stack);
        for (size_t i = 0; i < map.n; i++)
            require(again.line[i].start == (map.line[i].start & GT_UFTRACE_ADDR_MASK) &&
                    again.line[i].start < again.line[i].end &&
                    !strcmp(again.line[i].build_id, map.line[i].build_id));
        gt_uftrace_map_free(&again);
    }
    gt_text_free(&t);
    gt_uftrace_map_free(&map);
    return 0;
}
