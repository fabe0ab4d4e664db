/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that begin handlers: see handlers.h. */
#include "calls/recorder/output/handlers.h"
#include "base/fnv.h"
#include "calls/recorder/recorder.h"
#include "recording/directory/uftrace.h"
#include "recording/texts/files.h"
#include "recording/texts/handlers.h"

#include <stdlib.h>

enum { TRIES = 64 };

void gt_recorder_handlers_note(struct gt_recorder_handlers *h, uint64_t address)
{
    address &= GT_UFTRACE_ADDR_MASK;
    const uint64_t hash = gt_bytes_fnv(GT_FNV_BEGIN, address);
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t *slot = &h->address[(hash + i) % GT_HANDLERS], has = 0;
        if (__atomic_load_n(slot, __ATOMIC_RELAXED) == address)
            return;
        if (__atomic_compare_exchange_n(slot, &has, address, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            has == address)
            return;
    }
}

void gt_recorder_handlers_begun(void *recorder, uint64_t address)
{
    struct gt_recorder *r = recorder;
    gt_recorder_handlers_note(&r->handlers, address);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Handlers that the recording's other processes have written. */
static void note_written(struct gt_recorder *r)
{
    enum { LINE = 13 };
    char *text;
    size_t size;
    if (gt_uftrace_dir_read_text(&r->output.dir, GT_HANDLERS_FILE, GT_HANDLERS * LINE, &text, &size,
                                 NULL) < 0)
        return;
    gt_recording_handlers_parse(text, gt_recorder_handlers_begun, r);
    free(text);
}

int gt_recorder_handlers_write(struct gt_recorder *r, struct gt_error *err)
{
    struct gt_text text = {0};
    uint64_t all[GT_HANDLERS];
    size_t n = 0;
    if (r->guest.user)
        note_written(r);
    for (size_t i = 0; i < GT_HANDLERS; i++) {
        uint64_t address = __atomic_load_n(&r->handlers.address[i], __ATOMIC_RELAXED);
        if (address)
            all[n++] = address;
    }
    if (n == 0)
        return 0;
    qsort(all, n, sizeof *all, compare);
    for (size_t i = 0; i < n; i++)
        gt_recording_handler_put(&text, all[i]);
    int status = gt_uftrace_dir_put_text(&r->output.dir, GT_HANDLERS_FILE, &text, err);
    gt_text_free(&text);
    return status;
}
