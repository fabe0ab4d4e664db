/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trace_file.h. */
#include "trace_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static size_t read_all(const char *path, uint8_t **data)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s: cannot be opened", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    rewind(f);
    *data = malloc((size_t)size + 1);
    assert_non_null(*data);
    assert_int_equal(fread(*data, 1, (size_t)size, f), size);
    fclose(f);
    return (size_t)size;
}

static void add_record(struct trace_file *f, const struct gt_events_simpletrace_item *item)
{
    if ((f->count & (f->count - 1)) == 0) {
        f->records = realloc(f->records, (f->count ? f->count * 2 : 1) * sizeof *f->records);
        assert_non_null(f->records);
    }
    bool dropped = item->id == GT_SIMPLETRACE_DROPPED_ID;
    assert_true(dropped || (item->id < 64 && f->names[item->id]));
    f->records[f->count++] = (struct trace_record){.name = dropped ? "dropped" : f->names[item->id],
                                                   .time = item->timestamp,
                                                   .tid = item->tid,
                                                   .pid = item->pid,
                                                   .at = item->data,
                                                   .end = item->data + item->size};
}

struct trace_file trace_file_read(const char *path)
{
    struct trace_file f = {0};
    struct gt_events_simpletrace_order order;
    struct gt_events_simpletrace_item item;
    size_t size = read_all(path, &f.data), need;
    int at = gt_events_simpletrace_get_file_header(f.data, size, &order);
    assert_true(at > 0 && !order.swapped);
    for (size_t n = (size_t)at; n < size;) {
        int used = gt_events_simpletrace_get_record(f.data + n, size - n, &order, &item, &need);
        if (used == GT_SIMPLETRACE_SHORT) {
            f.torn = size - n;
            break;
        }
        assert_true(used > 0);
        n += (size_t)used;
        if (item.type != GT_SIMPLETRACE_MAPPING) {
            add_record(&f, &item);
            continue;
        }
        assert_true(item.id < 64);
        free(f.names[item.id]);
        f.names[item.id] = strndup((const char *)item.data, item.size);
    }
    return f;
}

void trace_file_free(struct trace_file *f)
{
    for (int i = 0; i < 64; i++)
        free(f->names[i]);
    free(f->records);
    free(f->data);
}

size_t trace_file_count(const struct trace_file *f, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        n += strcmp(f->records[i].name, name) == 0;
    return n;
}

uint64_t trace_file_dropped(const struct trace_file *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->records[i].name, "dropped") == 0)
            n += gt_events_simpletrace_get_u64(f->records[i].at, false);
    }
    return n;
}

uint64_t take_u64(struct trace_record *r)
{
    assert_true(r->end - r->at >= 8);
    r->at += 8;
    return gt_events_simpletrace_get_u64(r->at - 8, false);
}

const char *take_string(struct trace_record *r, uint32_t *length)
{
    static char text[GT_SIMPLETRACE_STRING_MAX + 1];
    assert_true(r->end - r->at >= 4);
    uint32_t n = gt_events_simpletrace_get_u32(r->at, false);
    assert_true(n <= GT_SIMPLETRACE_STRING_MAX && r->end - r->at >= 4 + (ptrdiff_t)n);
    memcpy(text, r->at + 4, n);
    text[n] = 0;
    r->at += 4 + n;
    if (length)
        *length = n;
    return text;
}
