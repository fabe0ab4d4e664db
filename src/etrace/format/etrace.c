/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of an etrace stream, each in both directions: see etrace.h.
 *
 *   header   u16 type, u16 unit, u32 len
 *   INFO     u64 attr, u16 major, u16 minor
 *   ARCH     guest, then host: u32 id, u8 bits, u8 big_endian, 2 bytes of padding; early versions
 *            of guesttrace wrote no padding
 *   EXEC     u64 start_time, entries (struct gt_etrace_run)
 *   BARRIER  nothing
 *   TB       u64 vaddr, paddr, host_addr, u32 guest_len, u32 host_len, both codes
 *   NOTE     u64 time, text
 *   MEM      u64 time, vaddr, paddr, value, u32 attr (bit 0: write), u8 size, 3 bytes of 0
 *   EVENT    u32 flags, u16 unit, u16 0, u64 time, value, previous, u16 device_len, u16 name_len,
 *            both names with their NUL
 *   old EVENT  u64 time, value, u16 unit, u16 device_len, u16 name_len, both names
 *
 * A packet is written completely or not at all.
 */
#include "etrace/format/internal.h"

#include "base/page.h"

#include <inttypes.h>
#include <stdlib.h>

/* Where the body goes; NULL: there is no room, or a packet may not be that long. */
static uint8_t *begin(struct gt_bytes_writer *w, enum gt_etrace_type type, uint16_t unit,
                      uint64_t len)
{
    if (w->short_of || len > GT_ETRACE_MAX_BODY || w->left < GT_ETRACE_HEADER + len) {
        w->short_of = true;
        return NULL;
    }
    uint8_t *body = gt_etrace_put_header(w->at, (uint16_t)type, unit, (uint32_t)len);
    w->at += GT_ETRACE_HEADER + len;
    w->left -= GT_ETRACE_HEADER + len;
    return body;
}

static uint8_t *put_bytes(uint8_t *p, const void *data, size_t n)
{
    if (n)
        memcpy(p, data, n);
    return p + n;
}

/* The stream's name, the packet's place, its kind and length, then the fault. */
static int refuse(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                  const char *kind, struct gt_error *err, const char *expected)
{
    return gt_error_set(err, GT_E_FORMAT, "%.300s offset %" PRIu64 ": %s packet of %u bytes: %s",
                        r->in.name, p->offset, kind, p->len, expected);
}

/* ---- INFO ---------------------------------------------------------------------------------- */

void gt_etrace_put_info(struct gt_bytes_writer *w, const struct gt_etrace_info *info)
{
    uint8_t *p = begin(w, GT_ETRACE_INFO, 0, GT_ETRACE_INFO_SIZE);
    if (p)
        gt_bytes_put16(gt_bytes_put16(gt_bytes_put64(p, info->attr), info->major), info->minor);
}

int gt_etrace_get_info(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_info *out, struct gt_error *err)
{
    if (p->len != GT_ETRACE_INFO_SIZE)
        return refuse(r, p, "INFO", err, "expected 12 bytes");
    *out = (struct gt_etrace_info){gt_bytes_le64(p->body), gt_bytes_le16(p->body + 8),
                                   gt_bytes_le16(p->body + 10)};
    return 0;
}

/* ---- ARCH ---------------------------------------------------------------------------------- */

static uint8_t *put_side(uint8_t *p, const struct gt_etrace_arch_side *side)
{
    p = gt_bytes_put32(p, side->id);
    *p++ = side->bits;
    *p++ = side->big_endian;
    return gt_bytes_put16(p, 0);
}

void gt_etrace_put_arch(struct gt_bytes_writer *w, const struct gt_etrace_arch *arch)
{
    uint8_t *p = begin(w, GT_ETRACE_ARCH, 0, GT_ETRACE_ARCH_SIZE);
    if (p)
        put_side(put_side(p, &arch->guest), &arch->host);
}

/* Xilinx's QEMU sets neither the byte order nor anything of the host. What cannot be is unknown. */
static struct gt_etrace_arch_side read_side(const uint8_t *p)
{
    if (p[4] != 32 && p[4] != 64)
        return (struct gt_etrace_arch_side){0};
    return (struct gt_etrace_arch_side){gt_bytes_le32(p), p[4], p[5] == 1};
}

static bool is_arch_size(uint32_t len)
{
    return len == GT_ETRACE_ARCH_SIZE || len == GT_ETRACE_ARCH_SHORT_SIZE;
}

bool gt_etrace_arch_read(const struct gt_etrace_packet *p, struct gt_etrace_arch *out)
{
    if (!is_arch_size(p->len))
        return false;
    *out = (struct gt_etrace_arch){read_side(p->body), read_side(p->body + p->len / 2)};
    return out->guest.bits != 0;
}

int gt_etrace_get_arch(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_arch *out, struct gt_error *err)
{
    if (!is_arch_size(p->len))
        return refuse(r, p, "ARCH", err, "expected 16 bytes, or 12");
    if (!gt_etrace_arch_read(p, out))
        return refuse(r, p, "ARCH", err, "expected a guest of 32 or 64 bits");
    return 0;
}

/* ---- EXEC, BARRIER ------------------------------------------------------------------------- */

int gt_etrace_get_exec(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_exec *out, struct gt_error *err)
{
    unsigned bits = r->arch.guest.bits;
    size_t size = gt_etrace_entry_size(bits);
    if (p->len < GT_ETRACE_EXEC_SIZE || (p->len - GT_ETRACE_EXEC_SIZE) % size)
        return refuse(r, p, "EXEC", err,
                      bits == 32 ? "expected 8 + n * 12 bytes" : "expected 8 + n * 20 bytes");
    *out = (struct gt_etrace_exec){
        .start_time = gt_bytes_le64(p->body),
        .entries = p->body + GT_ETRACE_EXEC_SIZE,
        .n = (p->len - GT_ETRACE_EXEC_SIZE) / size,
        .bits = bits,
    };
    return 0;
}

void gt_etrace_put_barrier(struct gt_bytes_writer *w, uint16_t unit)
{
    begin(w, GT_ETRACE_BARRIER, unit, 0);
}

/* ---- TB ------------------------------------------------------------------------------------ */

void gt_etrace_put_tb(struct gt_bytes_writer *w, uint16_t unit, const struct gt_etrace_tb *tb)
{
    uint64_t codes = (uint64_t)tb->guest_len + tb->host_len;
    uint8_t *p = begin(w, GT_ETRACE_TB, unit, GT_ETRACE_TB_SIZE + codes);
    if (!p)
        return;
    p = gt_bytes_put64(gt_bytes_put64(gt_bytes_put64(p, tb->vaddr), tb->paddr), tb->host_addr);
    p = gt_bytes_put32(gt_bytes_put32(p, tb->guest_len), tb->host_len);
    put_bytes(put_bytes(p, tb->guest_code, tb->guest_len), tb->host_code, tb->host_len);
}

int gt_etrace_get_tb(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                     struct gt_etrace_tb *out, struct gt_error *err)
{
    if (p->len < GT_ETRACE_TB_SIZE)
        return refuse(r, p, "TB", err, "expected at least 32 bytes");
    const uint8_t *b = p->body;
    uint32_t guest_len = gt_bytes_le32(b + 24), host_len = gt_bytes_le32(b + 28);
    if ((uint64_t)guest_len + host_len != p->len - GT_ETRACE_TB_SIZE)
        return refuse(r, p, "TB", err, "expected 32 bytes and as much code as it says");
    *out = (struct gt_etrace_tb){
        .vaddr = gt_bytes_le64(b),
        .paddr = gt_bytes_le64(b + 8),
        .host_addr = gt_bytes_le64(b + 16),
        .guest_code = b + GT_ETRACE_TB_SIZE,
        .host_code = b + GT_ETRACE_TB_SIZE + guest_len,
        .guest_len = guest_len,
        .host_len = host_len,
    };
    return 0;
}

/* ---- NOTE ---------------------------------------------------------------------------------- */

void gt_etrace_put_note(struct gt_bytes_writer *w, uint16_t unit, const struct gt_etrace_note *note)
{
    uint8_t *p = begin(w, GT_ETRACE_NOTE, unit, GT_ETRACE_NOTE_SIZE + (uint64_t)note->len);
    if (p)
        put_bytes(gt_bytes_put64(p, note->time), note->text, note->len);
}

int gt_etrace_get_note(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                       struct gt_etrace_note *out, struct gt_error *err)
{
    if (p->len < GT_ETRACE_NOTE_SIZE)
        return refuse(r, p, "NOTE", err, "expected at least 8 bytes");
    *out = (struct gt_etrace_note){
        .time = gt_bytes_le64(p->body),
        .text = (const char *)p->body + GT_ETRACE_NOTE_SIZE,
        .len = p->len - GT_ETRACE_NOTE_SIZE,
    };
    return 0;
}

/* ---- MEM ----------------------------------------------------------------------------------- */

void gt_etrace_put_mem(struct gt_bytes_writer *w, uint16_t unit, const struct gt_etrace_mem *mem)
{
    uint8_t *p = begin(w, GT_ETRACE_MEM, unit, GT_ETRACE_MEM_SIZE);
    if (p)
        gt_etrace_pack_mem(p, mem);
}

int gt_etrace_get_mem(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                      struct gt_etrace_mem *out, struct gt_error *err)
{
    if (p->len != GT_ETRACE_MEM_SIZE)
        return refuse(r, p, "MEM", err, "expected 40 bytes");
    const uint8_t *b = p->body;
    *out = (struct gt_etrace_mem){
        .time = gt_bytes_le64(b),
        .vaddr = gt_bytes_le64(b + 8),
        .paddr = gt_bytes_le64(b + 16),
        .value = gt_bytes_le64(b + 24),
        .write = gt_bytes_le32(b + 32) & GT_ETRACE_MEM_WRITE,
        .size = b[36],
    };
    return 0;
}

/* ---- EVENT --------------------------------------------------------------------------------- */

static size_t name_length(const char *name)
{
    return strnlen(name, GT_ETRACE_NAME_MAX);
}

static uint8_t *put_name(uint8_t *p, const char *name, size_t len)
{
    p = put_bytes(p, name, len);
    *p++ = 0;
    return p;
}

void gt_etrace_put_event(struct gt_bytes_writer *w, const struct gt_etrace_event *event)
{
    size_t device = name_length(event->device), name = name_length(event->name);
    uint8_t *p =
        begin(w, GT_ETRACE_EVENT, event->unit, GT_ETRACE_EVENT_SIZE + device + 1 + name + 1);
    if (!p)
        return;
    p = gt_bytes_put16(gt_bytes_put16(gt_bytes_put32(p, event->flags), event->unit), 0);
    p = gt_bytes_put64(gt_bytes_put64(gt_bytes_put64(p, event->time), event->value),
                       event->previous);
    p = gt_bytes_put16(gt_bytes_put16(p, (uint16_t)(device + 1)), (uint16_t)(name + 1));
    put_name(put_name(p, event->device, device), event->name, name);
}

/* The two lengths stand before the names and end the fixed part of `size` bytes. */
static int get_names(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                     size_t size, struct gt_etrace_event *out, struct gt_error *err)
{
    const uint8_t *names = p->body + size;
    size_t device = gt_bytes_le16(names - 4), name = gt_bytes_le16(names - 2);
    if (!device || !name || device + name != p->len - size)
        return refuse(r, p, "EVENT", err, "expected two names as long as it says");
    if (names[device - 1] || names[device + name - 1])
        return refuse(r, p, "EVENT", err, "expected names that end with a NUL");
    out->device = (const char *)names;
    out->name = (const char *)names + device;
    return 0;
}

static int get_old_event(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                         struct gt_etrace_event *out, struct gt_error *err)
{
    if (p->len < GT_ETRACE_EVENT_OLD_SIZE)
        return refuse(r, p, "EVENT", err, "expected at least 22 bytes");
    *out = (struct gt_etrace_event){
        .time = gt_bytes_le64(p->body),
        .value = gt_bytes_le64(p->body + 8),
        .unit = gt_bytes_le16(p->body + 16),
    };
    return get_names(r, p, GT_ETRACE_EVENT_OLD_SIZE, out, err);
}

int gt_etrace_get_event(const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                        struct gt_etrace_event *out, struct gt_error *err)
{
    if (p->type == GT_ETRACE_EVENT_OLD)
        return get_old_event(r, p, out, err);
    if (p->len < GT_ETRACE_EVENT_SIZE)
        return refuse(r, p, "EVENT", err, "expected at least 36 bytes");
    const uint8_t *b = p->body;
    *out = (struct gt_etrace_event){
        .flags = gt_bytes_le32(b),
        .unit = gt_bytes_le16(b + 4),
        .time = gt_bytes_le64(b + 8),
        .value = gt_bytes_le64(b + 16),
        .previous = gt_bytes_le64(b + 24),
    };
    return get_names(r, p, GT_ETRACE_EVENT_SIZE, out, err);
}

/*
 * The packets of an etrace stream in order: see etrace.h.
 *
 * A packet is returned as soon as it is complete, so that a stream can be read while it is written.
 */

enum { AHEAD = 256 << 10 }; /* bytes read at once */

int gt_etrace_reader_create(gt_bytes_refill_fn read, void *self, const char *name,
                            struct gt_etrace_reader **out, struct gt_error *err)
{
    struct gt_etrace_reader *r = calloc(1, sizeof *r);
    if (!r)
        return gt_error_set(err, GT_E_NOMEM, "%.300s: out of memory", name);
    r->arch.guest.bits = 64;
    r->arch.host.bits = 64;
    int status = gt_bytes_refill_init(&r->in, read, self, name, AHEAD, err);
    if (status < 0)
        gt_etrace_reader_destroy(r);
    else
        *out = r;
    return status;
}

void gt_etrace_reader_destroy(struct gt_etrace_reader *r)
{
    if (!r)
        return;
    gt_bytes_refill_free(&r->in);
    free(r);
}

const struct gt_etrace_arch *gt_etrace_reader_arch(const struct gt_etrace_reader *r)
{
    return &r->arch;
}

static int cut_off(struct gt_etrace_reader *r, size_t whole)
{
    return gt_error_set(&r->why, GT_E_TRUNC,
                        "%.300s offset %" PRIu64 ": truncated: the stream ends after %zu of the"
                        " packet's %zu bytes",
                        r->in.name, r->in.offset, gt_bytes_refill_left(&r->in), whole);
}

static int read_header(struct gt_etrace_reader *r, struct gt_etrace_packet *out)
{
    int status = gt_bytes_refill_need(&r->in, GT_ETRACE_HEADER, &r->why);
    if (status < 0 || gt_bytes_refill_left(&r->in) == 0)
        return status;
    if (status == 0)
        return cut_off(r, GT_ETRACE_HEADER);
    const uint8_t *h = gt_bytes_refill_at(&r->in);
    *out = (struct gt_etrace_packet){r->in.offset, gt_bytes_le16(h), gt_bytes_le16(h + 2),
                                     gt_bytes_le32(h + 4), NULL};
    if (!r->begun && out->type != GT_ETRACE_INFO)
        return gt_error_set(&r->why, GT_E_FORMAT,
                            "%.300s: not an etrace stream: it begins with a packet of type 0x%x,"
                            " expected INFO, 0x%x",
                            r->in.name, out->type, GT_ETRACE_INFO);
    if (out->len > GT_ETRACE_MAX_BODY)
        return gt_error_set(&r->why, GT_E_FORMAT,
                            "%.300s offset %" PRIu64 ": packet of type 0x%x has %" PRIu32
                            " bytes, expected at most %d",
                            r->in.name, r->in.offset, out->type, out->len, GT_ETRACE_MAX_BODY);
    return 1;
}

static int next(struct gt_etrace_reader *r, struct gt_etrace_packet *out)
{
    int status = read_header(r, out);
    if (status <= 0)
        return status;
    size_t whole = GT_ETRACE_HEADER + (size_t)out->len;
    status = gt_bytes_refill_need(&r->in, whole, &r->why);
    if (status < 0)
        return status;
    if (status == 0)
        return cut_off(r, whole);
    out->body = gt_bytes_refill_at(&r->in) + GT_ETRACE_HEADER;
    gt_bytes_refill_take(&r->in, whole);
    r->begun = true;
    struct gt_etrace_arch arch;
    if (out->type == GT_ETRACE_ARCH && gt_etrace_arch_read(out, &arch))
        r->arch = arch;
    return 1;
}

int gt_etrace_next(struct gt_etrace_reader *r, struct gt_etrace_packet *out, struct gt_error *err)
{
    int status = r->why.status ? r->why.status : next(r, out);
    if (status < 0 && err)
        *err = r->why;
    return status;
}

/*
 * Collecting execution entries into an EXEC packet: see etrace.h.
 *
 *   header, u64 start_time, entries: u32 duration, then start and end of 8 bytes each, of 4 each
 *   for a guest of 32 bits
 *
 * An entry begins at the end time of the previous one. An entry whose duration exceeds 32 bits is
 * followed by empty ones, [end, end), for the rest of its time, so that no code seems to run twice.
 */

enum { FIRST_ENTRY = GT_ETRACE_HEADER + GT_ETRACE_EXEC_SIZE };

void gt_etrace_run_init(struct gt_etrace_run *r, void *packet, size_t room, uint16_t unit,
                        unsigned bits)
{
    *r = (struct gt_etrace_run){
        .packet = packet, .room = room, .unit = unit, .bits = bits == 32 ? 32 : 64};
}

static bool in_one_page(uint64_t start, uint64_t end)
{
    return start < end && (start ^ end) >> GT_PAGE_BITS == 0;
}

/* Whether [start, end) could be made part of the newest entry, and was. */
static bool merge(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint64_t duration)
{
    uint8_t *newest = r->packet + r->fill - gt_etrace_entry_size(r->bits);
    uint64_t sum = gt_bytes_le32(newest) + duration;
    bool wide = r->bits == 64;
    uint64_t first = wide ? gt_bytes_le64(newest + 4) : gt_bytes_le32(newest + 4);
    uint64_t last = wide ? gt_bytes_le64(newest + 12) : gt_bytes_le32(newest + 8);
    if (start != last || sum > UINT32_MAX || !in_one_page(start, end) || !in_one_page(first, last))
        return false;
    gt_bytes_put32(newest, (uint32_t)sum);
    if (wide)
        gt_bytes_put64(newest + 12, end);
    else
        gt_bytes_put32(newest + 8, (uint32_t)end);
    r->end_time += duration;
    return true;
}

static void append(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint32_t duration)
{
    uint8_t *p = gt_bytes_put32(r->packet + r->fill, duration);
    if (r->bits == 32)
        gt_bytes_put32(gt_bytes_put32(p, (uint32_t)start), (uint32_t)end);
    else
        gt_bytes_put64(gt_bytes_put64(p, start), end);
    r->fill += gt_etrace_entry_size(r->bits);
    r->end_time += duration;
}

/* How many entries the duration needs; no more than a packet can have: the rest of the time is then
 * left out, and the next entry begins a packet. */
static size_t entries_for(const struct gt_etrace_run *r, uint64_t duration)
{
    uint64_t most = (r->room - FIRST_ENTRY) / gt_etrace_entry_size(r->bits);
    uint64_t n = duration ? (duration - 1) / UINT32_MAX + 1 : 1;
    return (size_t)(n < most ? n : most);
}

bool gt_etrace_run_add(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint64_t time,
                       uint64_t until)
{
    uint64_t duration = until > time ? until - time : 0;
    if (r->bits == 32) {
        start = (uint32_t)start;
        end = (uint32_t)end;
    }
    if (r->fill) {
        if (time != r->end_time)
            return false;
        if (merge(r, start, end, duration))
            return true;
    }
    size_t n = entries_for(r, duration), size = gt_etrace_entry_size(r->bits);
    if (r->fill && r->room - r->fill < n * size)
        return false;
    if (!r->fill) {
        gt_bytes_put64(r->packet + GT_ETRACE_HEADER, time);
        r->fill = FIRST_ENTRY;
        r->end_time = time;
    }
    for (; n > 0; n--) {
        uint32_t part = duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX;
        append(r, start, end, part);
        duration -= part;
        start = end;
    }
    return true;
}

size_t gt_etrace_run_take(struct gt_etrace_run *r)
{
    size_t size = r->fill;
    if (size)
        gt_etrace_put_header(r->packet, GT_ETRACE_EXEC, r->unit,
                             (uint32_t)(size - GT_ETRACE_HEADER));
    r->fill = 0;
    return size;
}
