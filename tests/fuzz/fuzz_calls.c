/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compact recording of calls, opened, scanned and walked. The input is a row of items: u8 what,
 * u16 size, and as many bytes; they become text files, blocks as they are, and blocks of records.
 * So the checksums fit, and what is in there may be anything.
 */
#include "base/bytes.h"
#include "calls/file/file.h"
#include "calls/read/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS = 4096, ENOUGH = 1 << 18, ITEMS = 64, PACKERS = 2 };

static const char *const names[] = {
    "task.txt",      "info",          "sid-00000000000000a1.map",
    "prog.sym",      "prog.dbg",      "extern.dat",
    "events.txt",    "perf-cpu0.dat", "guest-tasks.txt",
    "prog-abcd.sym",
};
enum { TEXTS = sizeof names / sizeof *names, BLOCK = TEXTS, PACK };

struct file {
    int fd;
    char path[64];
    struct gt_compact_packer *packer[PACKERS];
};

static void require(bool good)
{
    if (!good)
        abort();
}

static void append(const struct file *f, const void *data, size_t n)
{
    require(gt_compact_file_append(f->path, data, n, NULL) == 0);
}

static void put_text(const struct file *f, const char *name, const uint8_t *data, size_t n)
{
    uint8_t *block;
    size_t size;
    require(gt_compact_text_pack(name, data, n, &block, &size) == 0);
    append(f, block, size);
    free(block);
}

/* u8 flags, u8 packer, u16 records, u64 first and last time, the payload. */
static void put_block(const struct file *f, struct gt_bytes_reader *r)
{
    struct gt_compact_head h = {.type = GT_COMPACT_RECORDS, .flags = gt_bytes_read_u8(r)};
    h.packer = gt_bytes_read_u8(r) % PACKERS + 1;
    h.records = gt_bytes_read_u16(r);
    h.first_time = gt_bytes_read_u64(r);
    h.last_time = gt_bytes_read_u64(r);
    h.size = (uint32_t)r->left;
    uint8_t *block = malloc(GT_COMPACT_HEAD + r->left);
    require(block);
    memcpy(block + GT_COMPACT_HEAD, r->at, r->left);
    gt_compact_head_write(block, &h, block + GT_COMPACT_HEAD);
    append(f, block, GT_COMPACT_HEAD + r->left);
    free(block);
}

/* u8 packer, u8 task, then records: u8 step in time, or 255 and a u64 time; u64 word. */
static void pack(struct file *f, struct gt_bytes_reader *r)
{
    static struct gt_compact_record record[RECORDS];
    static uint64_t time;
    const uint8_t *block;
    size_t n = 0, size;
    struct gt_compact_packer *p = f->packer[gt_bytes_read_u8(r) % PACKERS];
    uint32_t task = 50 + gt_bytes_read_u8(r) % 3;
    while (r->left >= 9 && n < RECORDS) {
        uint8_t step = gt_bytes_read_u8(r);
        time = step < UINT8_MAX ? time + step : gt_bytes_read_u64(r);
        record[n++] = (struct gt_compact_record){time, gt_bytes_read_u64(r)};
    }
    require(gt_compact_packer_put(p, task, record, n) == 0);
    require(gt_compact_packer_end_block(p, &block, &size) == 0);
    if (size > 0)
        append(f, block, size);
}

static void put_item(struct file *f, unsigned what, const uint8_t *data, size_t n)
{
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, data, n);
    if (what < TEXTS)
        put_text(f, names[what], data, n);
    else if (what == BLOCK)
        put_block(f, &r);
    else
        pack(f, &r);
}

static void put_items(struct file *f, const uint8_t *data, size_t size)
{
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, data, size);
    for (int i = 0; i < ITEMS && r.left >= 3; i++) {
        unsigned what = gt_bytes_read_u8(&r) % (PACK + 1);
        size_t n = gt_bytes_read_u16(&r);
        n = n < r.left ? n : r.left;
        put_item(f, what, gt_bytes_read_bytes(&r, n), n);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

static volatile uint64_t seen;

/* A few bytes may stand for millions of records. */
struct pass {
    struct gt_calls *c;
    uint64_t n;
    int64_t balance;
};

static int take(void *self, const struct gt_call *e)
{
    struct pass *p = self;
    size_t open;
    const struct gt_call_frame *frame = gt_calls_open_at(p->c, e->task, &open);
    if (e->kind == GT_CALL_ENTRY || e->kind == GT_CALL_EXIT) {
        seen += (unsigned char)*gt_calls_function(p->c, e->function)->name;
        p->balance += e->kind == GT_CALL_ENTRY ? 1 : -1;
        require(open > 0 || e->kind == GT_CALL_ENTRY);
    }
    seen += open ? frame[open - 1].begin : 0;
    return ++p->n > ENOUGH;
}

static void *make_share(void *self)
{
    return self;
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct pass *p = share;
    for (size_t i = 0; i < b->n; i++)
        seen += b->call[i].time;
    return __atomic_add_fetch(&p->n, b->n + 1, __ATOMIC_RELAXED) > ENOUGH ? GT_E_RANGE : 0;
}

static int merge(void *self, void *share)
{
    (void)self;
    (void)share;
    return 0;
}

static void read_window(struct gt_calls *c, const struct gt_calls_window *w)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge};
    struct pass p = {.c = c};
    struct gt_error err;
    if (gt_calls_walk(c, w, take, &p, &err) == 0)
        require(p.balance == 0);
    p.n = 0;
    gt_calls_scan(c, w, &consumer, &p, 2, &err);
}

static void read_calls(const char *path)
{
    struct gt_calls *c;
    struct gt_error err;
    if (gt_calls_open(path, NULL, &c, &err) < 0)
        return;
    const struct gt_calls_facts *f = gt_calls_facts(c);
    uint64_t middle = f->first / 2 + f->last / 2;
    read_window(c, NULL);
    read_window(c, &(const struct gt_calls_window){.from = middle, .min_time = 3});
    read_window(c, &(const struct gt_calls_window){.from = middle / 2, .to = middle, .depth = 2});
    gt_calls_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t begin[GT_COMPACT_FILE_HEAD] = "gtrace\r\n\1";
    struct file f = {.fd = memfd_create("calls", MFD_CLOEXEC)};
    require(f.fd >= 0 && write(f.fd, begin, sizeof begin) == sizeof begin);
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    for (uint32_t i = 0; i < PACKERS; i++) {
        const struct gt_compact_packer_options o = {.packer = i + 1, .exact = i, .segment = 40};
        require(gt_compact_packer_create(&o, &f.packer[i]) == 0);
    }
    put_items(&f, data, size);
    for (uint32_t i = 0; i < PACKERS; i++)
        gt_compact_packer_destroy(f.packer[i]);
    read_calls(f.path);
    close(f.fd);
    return 0;
}
