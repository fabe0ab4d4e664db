/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf-cpuN.dat: see perf_file.h. Its records, as in perf's data files: u32 type, u16 misc, u16
 * size, and what the type says; the last 16 bytes of those that matter here are u32 pid, u32 tid,
 * u64 time. COMM is u32 pid, u32 tid, the name with a NUL; SWITCH has its misc only.
 */
#include "calls/read/perf_file.h"

#include "base/bytes.h"

#include <string.h>

enum { COMM = 3, SWITCH = 14, HEAD = 8, IDS = 8, TAIL = 16, NAME = 64 };
enum { SWITCH_OUT = 1 << 13, SWITCH_PREEMPTED = 1 << 14 };

void gt_calls_perf_read(const char *data, size_t size,
                        void (*take)(void *self, const struct gt_calls_perf_record *r), void *self)
{
    struct gt_bytes_reader in;
    gt_bytes_reader_init(&in, data, size);
    while (in.left >= HEAD) {
        const uint32_t type = gt_bytes_read_u32(&in), misc = gt_bytes_read_u16(&in);
        const size_t length = gt_bytes_read_u16(&in), rest = length - HEAD;
        if (length < HEAD || rest > in.left)
            return;
        const uint8_t *body = gt_bytes_read_bytes(&in, rest);
        const bool comm = type == COMM && rest > IDS + TAIL, is_switch = type == SWITCH;
        if ((!comm && !is_switch) || rest < TAIL)
            continue;
        char name[NAME] = {0};
        struct gt_calls_perf_record r = {.time = gt_bytes_le64(body + rest - 8),
                                         .tid = gt_bytes_le32(body + rest - 12),
                                         .name = comm ? name : NULL,
                                         .out = misc & SWITCH_OUT,
                                         .preempted = misc & SWITCH_PREEMPTED};
        if (comm) {
            const size_t n = rest - IDS - TAIL;
            r.tid = gt_bytes_le32(body + 4);
            memcpy(name, body + IDS, n < sizeof name - 1 ? n : sizeof name - 1);
        }
        take(self, &r);
    }
}
