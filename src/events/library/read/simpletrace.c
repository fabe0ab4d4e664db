/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads simpletrace records: see simpletrace.h. */
#include "events/library/read/simpletrace.h"

int gt_events_simpletrace_get_file_header(const uint8_t *at, size_t size,
                                          struct gt_events_simpletrace_order *out)
{
    *out = (struct gt_events_simpletrace_order){0};
    if (size < GT_SIMPLETRACE_FILE_HEADER_SIZE)
        return GT_SIMPLETRACE_SHORT;
    uint64_t magic = gt_events_simpletrace_get_u64(at + 8, false);
    if (gt_events_simpletrace_get_u64(at, false) != GT_SIMPLETRACE_HEADER_ID)
        return GT_SIMPLETRACE_BAD_MAGIC;
    if (magic != GT_SIMPLETRACE_MAGIC) {
        if (__builtin_bswap64(magic) != GT_SIMPLETRACE_MAGIC)
            return GT_SIMPLETRACE_BAD_MAGIC;
        out->swapped = true;
    }
    out->version = gt_events_simpletrace_get_u64(at + 16, out->swapped);
    if (out->version != GT_SIMPLETRACE_VERSION && out->version != GT_SIMPLETRACE_VERSION_THREADS)
        return GT_SIMPLETRACE_BAD_VERSION;
    return GT_SIMPLETRACE_FILE_HEADER_SIZE;
}

static int get_mapping(const uint8_t *at, size_t size, bool swapped,
                       struct gt_events_simpletrace_item *out, size_t *need)
{
    *need = GT_SIMPLETRACE_MAPPING_HEADER_SIZE;
    if (size < *need)
        return GT_SIMPLETRACE_SHORT;
    out->id = gt_events_simpletrace_get_u64(at + 8, swapped);
    out->length = gt_events_simpletrace_get_u32(at + 16, swapped);
    if (out->length > GT_SIMPLETRACE_NAME_LIMIT)
        return GT_SIMPLETRACE_BAD_LENGTH;
    *need += out->length;
    if (size < *need)
        return GT_SIMPLETRACE_SHORT;
    out->data = at + GT_SIMPLETRACE_MAPPING_HEADER_SIZE;
    out->size = out->length;
    return (int)*need;
}

static int get_event(const uint8_t *at, size_t size, bool swapped,
                     struct gt_events_simpletrace_item *out, size_t *need)
{
    bool thread = out->type == GT_SIMPLETRACE_THREAD_EVENT;
    size_t header =
        thread ? GT_SIMPLETRACE_THREAD_EVENT_HEADER_SIZE : GT_SIMPLETRACE_EVENT_HEADER_SIZE;
    *need = header;
    if (size < header)
        return GT_SIMPLETRACE_SHORT;
    out->id = gt_events_simpletrace_get_u64(at + 8, swapped);
    out->timestamp = gt_events_simpletrace_get_u64(at + 16, swapped);
    out->length = gt_events_simpletrace_get_u32(at + 24, swapped);
    out->pid = gt_events_simpletrace_get_u32(at + 28, swapped);
    out->tid = thread ? gt_events_simpletrace_get_u64(at + 32, swapped) : 0;
    size_t whole = (size_t)out->length + 8; /* the type is not counted */
    if (whole < header || out->length > GT_SIMPLETRACE_LENGTH_LIMIT)
        return GT_SIMPLETRACE_BAD_LENGTH;
    *need = whole;
    if (size < whole)
        return GT_SIMPLETRACE_SHORT;
    out->data = at + header;
    out->size = (uint32_t)(whole - header);
    return (int)whole;
}

int gt_events_simpletrace_get_record(const uint8_t *at, size_t size,
                                     const struct gt_events_simpletrace_order *order,
                                     struct gt_events_simpletrace_item *out, size_t *need)
{
    *need = 8;
    if (size < 8)
        return GT_SIMPLETRACE_SHORT;
    out->type = gt_events_simpletrace_get_u64(at, order->swapped);
    if (out->type == GT_SIMPLETRACE_EVENT || (out->type == GT_SIMPLETRACE_THREAD_EVENT &&
                                              order->version == GT_SIMPLETRACE_VERSION_THREADS))
        return get_event(at, size, order->swapped, out, need);
    if (out->type == GT_SIMPLETRACE_MAPPING)
        return get_mapping(at, size, order->swapped, out, need);
    return GT_SIMPLETRACE_BAD_TYPE;
}
