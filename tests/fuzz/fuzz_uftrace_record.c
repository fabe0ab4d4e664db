/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of a TID.dat: records come back as they were, the scan's EXITs close the stack. */
#include "recording/directory/dir.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

static void check_records(const uint8_t *data, size_t size)
{
    struct gt_bytes_reader r;
    struct gt_bytes_writer w;
    struct gt_uftrace_record rec;
    uint8_t back[GT_UFTRACE_RECORD_SIZE];
    gt_bytes_reader_init(&r, data, size);
    for (const uint8_t *at = data; gt_uftrace_record_read(&r, true, &rec) == 1; at = r.at) {
        gt_bytes_writer_init(&w, back, sizeof back);
        gt_uftrace_record_write(&w, &rec);
        require(!w.short_of && !memcmp(at, back, sizeof back));
    }
}

/* What repair would do, in memory: cut, add the EXITs; then nothing is open. */
static void check_repair(const uint8_t *data, struct gt_uftrace_scan *s)
{
    size_t size = s->whole + (size_t)s->n_open * GT_UFTRACE_RECORD_SIZE;
    uint8_t *whole = malloc(size ? size : 1);
    struct gt_bytes_writer w;
    struct gt_uftrace_scan again;
    require(whole != NULL);
    gt_bytes_writer_init(&w, whole, size);
    if (s->whole)
        gt_bytes_write_bytes(&w, data, s->whole);
    for (uint32_t i = s->n_open; i > 0; i--) {
        gt_bytes_write_u64(&w, s->last_time);
        gt_bytes_write_u64(&w, s->open[i - 1]);
    }
    require(!w.short_of && gt_uftrace_scan(whole, size, &again, NULL) == 0);
    require(again.n_open == 0 && again.whole == size && again.depth == s->depth);
    free(again.open);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gt_uftrace_scan s;
    struct gt_error err;
    check_records(data, size);
    if (gt_uftrace_scan(data, size, &s, &err) == 0) {
        require(s.whole <= size && size - s.whole < 32 && s.n_open <= s.depth);
        check_repair(data, &s);
        free(s.open);
    }
    return 0;
}
