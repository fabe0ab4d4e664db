/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An etrace stream: what is read of a packet lies in it, and written again gives its bytes. */
#include "etrace/format/etrace.h"
#include "etrace/format/mapping.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

/* A mapping that is read is the same when it is written and read again. */
static void check_mapping(const struct gt_etrace_note *note)
{
    static struct gt_etrace_mapping m, back;
    static char text[GT_ETRACE_MAPPING_MAX];
    if (!gt_etrace_mapping_get(note->text, note->len, &m))
        return;
    size_t n = gt_etrace_mapping_put(&m, text);
    require(n <= sizeof text && gt_etrace_mapping_get(text, n, &back));
    require(back.start == m.start && back.end == m.end && back.base == m.base &&
            strcmp(back.build_id, m.build_id) == 0 && strcmp(back.path, m.path) == 0);
}

static ssize_t read_some(void *self, void *out, size_t n)
{
    struct gt_bytes_reader *r = self;
    n = n < r->left ? n : r->left;
    n = n < 100 ? n : 100;
    if (n)
        memcpy(out, gt_bytes_read_bytes(r, n), n);
    return (ssize_t)n;
}

/* A sum over what the pointers lead to, so that a checker sees every byte read. */
static volatile unsigned seen;

static void touch(const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seen += ((const uint8_t *)data)[i];
}

/* What was written instead is the packet, but for bytes that mean nothing. */
static void same(const struct gt_etrace_packet *p, const struct gt_bytes_writer *w,
                 const uint8_t *out)
{
    require(!w->short_of && (size_t)(w->at - out) == 8 + (size_t)p->len);
    require(p->type == GT_ETRACE_MEM || p->type == GT_ETRACE_EVENT ||
            !memcmp(out + 8, p->body, p->len));
}

static bool same_side(const struct gt_etrace_arch_side *a, const struct gt_etrace_arch_side *b)
{
    return a->id == b->id && a->bits == b->bits && a->big_endian == b->big_endian;
}

/* Written again it has padding, and nothing that makes no sense; what it says stays. */
static void check_arch(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    uint8_t out[64];
    struct gt_bytes_writer w;
    struct gt_etrace_arch arch, again;
    if (gt_etrace_get_arch(r, p, &arch, NULL) < 0)
        return;
    gt_bytes_writer_init(&w, out, sizeof out);
    gt_etrace_put_arch(&w, &arch);
    struct gt_etrace_packet written = {.type = p->type, .len = 16, .body = out + GT_ETRACE_HEADER};
    require(w.at - out == 24 && gt_etrace_get_arch(r, &written, &again, NULL) == 0);
    require(same_side(&arch.guest, &again.guest) && same_side(&arch.host, &again.host));
}

static void check_exec(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_exec x;
    if (gt_etrace_get_exec(r, p, &x, NULL) < 0)
        return;
    uint8_t room[256];
    struct gt_etrace_run run;
    uint64_t time = x.start_time;
    gt_etrace_run_init(&run, room, sizeof room, p->unit, x.bits);
    for (size_t i = 0; i < x.n; i++) {
        struct gt_etrace_entry e = gt_etrace_entry_at(&x, i);
        uint64_t end = time + e.duration;
        if (!gt_etrace_run_add(&run, e.start, e.end, time, end)) {
            require(gt_etrace_run_take(&run) > 16);
            require(gt_etrace_run_add(&run, e.start, e.end, time, end));
        }
        time = end;
    }
    touch(room, gt_etrace_run_take(&run));
}

static void check_event(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_event event;
    if (gt_etrace_get_event(r, p, &event, NULL) < 0)
        return;
    touch(event.device, strlen(event.device));
    touch(event.name, strlen(event.name));
}

static void check_packet(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    static uint8_t out[GT_ETRACE_HEADER + GT_ETRACE_MAX_BODY];
    struct gt_bytes_writer w;
    struct gt_etrace_info info;
    struct gt_etrace_tb tb;
    struct gt_etrace_note note;
    struct gt_etrace_mem mem;
    gt_bytes_writer_init(&w, out, sizeof out);
    touch(p->body, p->len);
    if (p->type == GT_ETRACE_INFO && gt_etrace_get_info(r, p, &info, NULL) == 0)
        gt_etrace_put_info(&w, &info);
    else if (p->type == GT_ETRACE_TB && gt_etrace_get_tb(r, p, &tb, NULL) == 0)
        gt_etrace_put_tb(&w, p->unit, &tb);
    else if (p->type == GT_ETRACE_NOTE && gt_etrace_get_note(r, p, &note, NULL) == 0) {
        gt_etrace_put_note(&w, p->unit, &note);
        check_mapping(&note);
    } else if (p->type == GT_ETRACE_MEM && gt_etrace_get_mem(r, p, &mem, NULL) == 0)
        gt_etrace_put_mem(&w, p->unit, &mem);
    if (w.at != out)
        same(p, &w, out);
    if (p->type == GT_ETRACE_ARCH)
        check_arch(r, p);
    if (p->type == GT_ETRACE_EXEC)
        check_exec(r, p);
    if (p->type == GT_ETRACE_EVENT || p->type == GT_ETRACE_EVENT_OLD)
        check_event(r, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gt_bytes_reader source;
    struct gt_etrace_reader *r;
    struct gt_etrace_packet p;
    uint64_t offset = 0;
    gt_bytes_reader_init(&source, data, size);
    if (gt_etrace_reader_create(read_some, &source, "fuzz", &r, NULL) < 0)
        return 0;
    while (gt_etrace_next(r, &p, NULL) == 1) {
        require(p.offset == offset && offset + 8 + p.len <= size);
        require(!memcmp(p.body, data + offset + 8, p.len));
        offset += 8 + (uint64_t)p.len;
        check_packet(r, &p);
    }
    gt_etrace_reader_destroy(r);
    return 0;
}
