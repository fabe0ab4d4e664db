/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of tasks: see task_names.h. The records of a perf-cpuN.dat: u32 type, u16, u16 size, and
 * what the type says. COMM is u32 pid, u32 tid, the name with a NUL; its last 16 bytes are u32 pid,
 * u32 tid, u64 time.
 */
#include "analysis/calls/task_names.h"

#include "base/bytes.h"
#include "format/le.h"

#include <string.h>

enum { NAME = 15, COMM = 3, HEAD = 8, IDS = 8, TAIL = 16 };

void gt_task_names_add(GArray *names, GStringChunk *texts, uint64_t time, const char *name)
{
    char kept[NAME + 1];
    g_strlcpy(kept, name, sizeof kept);
    if (names->len > 0 &&
        strcmp(g_array_index(names, struct gt_calls_name, names->len - 1).name, kept) == 0)
        return;
    const struct gt_calls_name new = {time, g_string_chunk_insert_const(texts, kept)};
    g_array_append_val(names, new);
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
    const struct gt_calls_name *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

void gt_task_names_order(GArray *names)
{
    g_array_sort(names, compare_times);
}

void gt_task_names_read(const char *data, size_t size,
                        void (*take)(void *self, uint32_t tid, uint64_t time, const char *name),
                        void *self)
{
    struct gt_reader r;
    gt_reader_init(&r, data, size);
    while (r.left >= HEAD) {
        uint32_t type = gt_read_u32(&r);
        gt_read_u16(&r);
        size_t length = gt_read_u16(&r);
        if (length < HEAD || length - HEAD > r.left)
            return;
        const uint8_t *body = gt_read_bytes(&r, length - HEAD);
        if (type != COMM || length <= HEAD + IDS + TAIL)
            continue;
        char name[64] = {0};
        memcpy(name, body + IDS, MIN(length - HEAD - IDS - TAIL, sizeof name - 1));
        take(self, gt_le32(body + 4), gt_le64(body + length - HEAD - 8), name);
    }
}
