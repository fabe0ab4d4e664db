/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simpletrace file, behind the first NUL, and an events file before it: what is read of a record
 * lies in memory, and a record that was read is one when its bytes are read again.
 */
#include "events/library/read/simpletrace.h"

#include <guesttrace/simpletrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sum over what the pointers lead to, so that a checker sees every byte read. */
static volatile unsigned seen;

static void touch(const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seen += (unsigned char)data[i];
}

static void touch_declarations(const struct gt_trace_declarations *d)
{
    for (size_t i = 0; i <= gt_trace_declarations_count(d); i++) {
        const struct gt_trace_declaration *e = gt_trace_declarations_at(d, i);
        if (!gt_trace_declarations_find(d, e->name))
            abort();
        for (unsigned j = 0; j < e->n_arguments; j++) {
            touch(e->arguments[j].name, strlen(e->arguments[j].name));
            touch(e->arguments[j].type, strlen(e->arguments[j].type));
        }
    }
}

static int touch_record(void *self, const struct gt_trace_record *r)
{
    (void)self;
    for (unsigned i = 0; i < r->n_values; i++)
        if (r->values[i].text)
            touch(r->values[i].text, r->values[i].number);
    return 0;
}

static void read_trace(const struct gt_trace_declarations *d, const char *path, bool no_header)
{
    const struct gt_trace_reader_options how = {.no_header = no_header};
    struct gt_trace_reader *r;
    struct gt_trace_error err;
    if (gt_trace_reader_open(&r, path, d, &how, &err) < 0)
        return;
    gt_trace_reader_on(r, "*", touch_record, NULL, &err);
    gt_trace_reader_run(r, &err);
    gt_trace_reader_close(r);
}

static void walk_records(const uint8_t *data, size_t size, struct gt_events_simpletrace_order order)
{
    struct gt_events_simpletrace_item item;
    size_t need;
    int n;
    while ((n = gt_events_simpletrace_get_record(data, size, &order, &item, &need)) > 0) {
        if ((size_t)n > size || item.data < data || item.data + item.size != data + n)
            abort();
        data += n;
        size -= (size_t)n;
    }
    if (n == GT_SIMPLETRACE_SHORT && need <= size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct gt_trace_declarations *d;
    struct gt_trace_error err;
    char path[64];
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t n = end ? (size_t)(end - data) : size;
    if (fd < 0)
        fd = memfd_create("trace", MFD_CLOEXEC);
    if (gt_trace_declarations_parse(&d, "events", (const char *)data, n, &err) < 0)
        return 0;
    touch_declarations(d);
    data += n + (end != NULL);
    size -= n + (end != NULL);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_trace(d, path, false);
    read_trace(d, path, true);
    walk_records(data, size, (struct gt_events_simpletrace_order){GT_SIMPLETRACE_VERSION, true});
    walk_records(data, size,
                 (struct gt_events_simpletrace_order){GT_SIMPLETRACE_VERSION_THREADS, false});
    gt_trace_declarations_free(d);
    return 0;
}
