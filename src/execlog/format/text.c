/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts events to text: see text.h; lines.h has the lines. */
#include "execlog/format/lines.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>

const struct gt_execlog_query gt_execlog_all = {.from = 1, .to = UINT64_MAX};

int gt_execlog_text_create(const struct gt_execlog_codes *codes,
                           const struct gt_execlog_text_options *options,
                           struct gt_execlog_text **out, struct gt_error *err)
{
    struct gt_execlog_text *t = calloc(1, sizeof *t);
    if (t) {
        const struct gt_execlog_query *q = &options->query;
        t->codes = codes;
        t->o = *options;
        t->some = q->from > 1 || q->to < UINT64_MAX || q->by_insn || q->by_access;
        t->room = GT_EXECLOG_FIRST_ROOM;
        t->number = 1;
        t->buf = malloc(t->room);
    }
    if (!t || !t->buf) {
        gt_execlog_text_destroy(t);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    *out = t;
    return 0;
}

void gt_execlog_text_destroy(struct gt_execlog_text *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_waiting; i++)
        free(t->waiting[i].text);
    free(t->waiting);
    free(t->complete.text);
    free(t->buf);
    free(t);
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Some bytes beyond both ends are touched. */
static inline char *copy(char *to, const char *from, size_t n)
{
    memcpy(to, from, 32);
    for (size_t i = 32; __builtin_expect(i < n, 0); i += 32)
        memcpy(to + i, from + i, 32);
    return to + n;
}

/* ---- events -------------------------------------------------------------------------------- */

static const struct gt_execlog_block *find(void *self, uint32_t id)
{
    struct gt_execlog_text *t = self;
    const struct gt_execlog_code *code = gt_execlog_codes_find(t->codes, id);
    if (!code && t->o.missing) {
        t->o.missing(t->o.self, id);
        code = gt_execlog_codes_find(t->codes, id);
    }
    return code ? &code->block : NULL;
}

/* One instruction, where lines are chosen. */
static void start_one(struct gt_execlog_text *t, const struct gt_execlog_code *code, uint32_t i)
{
    const struct gt_execlog_query *q = &t->o.query;
    size_t n = code->ends[i + 1] - code->ends[i];
    if (t->fill > t->line)
        gt_execlog_lines_end(t);
    char *p = gt_execlog_lines_room(t, GT_EXECLOG_LINE_PREFIX + n + GT_EXECLOG_SLACK);
    if (!p)
        return;
    memcpy(p, t->prefix, GT_EXECLOG_LINE_PREFIX);
    p = copy(p + t->prefix_len, code->text + code->ends[i], n);
    t->fill = (size_t)(p - t->buf);
    t->insn = code->addresses[i] >= q->insn_lo && code->addresses[i] <= q->insn_hi;
}

/* Several, all of which are wanted. */
static void start_all(struct gt_execlog_text *t, const struct gt_execlog_code *code, uint32_t from,
                      uint32_t to)
{
    const uint32_t *ends = code->ends;
    size_t n = ends[to] - ends[from] + (size_t)(to - from) * (GT_EXECLOG_LINE_PREFIX + 1);
    char *p = gt_execlog_lines_room(t, 1 + n + GT_EXECLOG_SLACK);
    if (!p)
        return;
    bool open = t->fill > t->line;
    if (open)
        *p++ = '\n';
    for (uint32_t i = from; i < to; i++) {
        t->line = (size_t)(p - t->buf);
        memcpy(p, t->prefix, GT_EXECLOG_LINE_PREFIX);
        p = copy(p + t->prefix_len, code->text + ends[i], ends[i + 1] - ends[i]);
        *p++ = '\n';
    }
    t->fill = (size_t)(p - t->buf) - 1;
    t->number += to - from - !open;
    if (t->line >= GT_EXECLOG_GIVEN)
        gt_execlog_lines_give(t);
}

static void on_start(void *self, const struct gt_execlog_block *b, uint32_t from, uint32_t to)
{
    struct gt_execlog_text *t = self;
    const struct gt_execlog_code *code = (const struct gt_execlog_code *)b;
    t->complete.n = 0;
    if (__builtin_expect(!t->some && !t->skip && !t->broken, 1))
        start_all(t, code, from, to);
    else
        for (uint32_t i = from; i < to; i++)
            start_one(t, code, i);
}

static void on_resume(void *self, const struct gt_execlog_block *b, uint32_t i)
{
    (void)self, (void)b, (void)i;
}

static void on_line(void *self, bool last)
{
    struct gt_execlog_text *t = self;
    if (last && t->fill == t->line && t->complete.n)
        gt_execlog_lines_repeat(t);
    t->complete.n = 0;
    if (t->fill > t->line || last)
        gt_execlog_lines_end(t);
}

static void on_complete(void *self)
{
    struct gt_execlog_text *t = self;
    if (t->fill == t->line)
        return;
    gt_execlog_lines_keep(t, t->buf + t->line, t->fill - t->line);
    gt_execlog_lines_end(t);
}

static bool on_access(void *self, bool store, uint64_t address, uint32_t device)
{
    static const char words[2][16] = {", load, 0x", ", store, 0x"};
    struct gt_execlog_text *t = self;
    const struct gt_execlog_name *name = NULL;
    if (device && !(name = gt_execlog_codes_device(t->codes, device)))
        return false;
    char *p = gt_execlog_lines_room(t, 64 + (name ? name->len : 0) + GT_EXECLOG_SLACK);
    if (!p)
        return true;
    memcpy(p, words[store], sizeof words[store]);
    p = gt_text_hex_put_padded(p + 10 + store, address);
    if (name)
        p = copy(p, name->text, name->len);
    t->fill = (size_t)(p - t->buf);
    t->access |= address >= t->o.query.access_lo && address <= t->o.query.access_hi;
    return true;
}

static char *put_hex_bytes(char *p, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    while (n--) {
        *p++ = digits[bytes[n] >> 4];
        *p++ = digits[bytes[n] & 15];
    }
    return p;
}

static bool on_change(void *self, const struct gt_execlog_change *c)
{
    struct gt_execlog_text *t = self;
    const struct gt_execlog_name *name = gt_execlog_codes_register(t->codes, c->reg);
    uint8_t value[8];
    if (!name || (c->size ? c->size != name->size : name->size > sizeof value))
        return false;
    char *p = gt_execlog_lines_room(t, name->len + 2 * (size_t)name->size + GT_EXECLOG_SLACK);
    if (!p)
        return true;
    p = copy(p, name->text, name->len);
    gt_bytes_put64(value, c->value);
    p = put_hex_bytes(p, c->size ? c->bytes : value, name->size);
    t->fill = (size_t)(p - t->buf);
    return true;
}

static void on_value(void *self, const uint64_t value[2], bool wide)
{
    struct gt_execlog_text *t = self;
    char *p = t->o.values ? gt_execlog_lines_room(t, 64) : NULL;
    if (!p)
        return;
    memcpy(p, " = 0x", 5);
    p += 5;
    if (wide && value[1]) {
        p = gt_text_hex_put(p, value[1]);
        p = gt_text_hex_put8(p, (uint32_t)(value[0] >> 32));
        p = gt_text_hex_put8(p, (uint32_t)value[0]);
    } else {
        p = gt_text_hex_put(p, value[0]);
    }
    t->fill = (size_t)(p - t->buf);
}

static const struct gt_execlog_visitor visitor = {
    .find = find,
    .start = on_start,
    .resume = on_resume,
    .line = on_line,
    .complete = on_complete,
    .access = on_access,
    .change = on_change,
    .value = on_value,
};

/* ---- chunks -------------------------------------------------------------------------------- */

static void set_prefix(struct gt_execlog_text *t, uint32_t vcpu)
{
    char digits[5];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + vcpu % 10);
    while (vcpu /= 10);
    t->prefix_len = n + 2;
    for (char *p = t->prefix; n; p++)
        *p = digits[--n];
    memcpy(t->prefix + t->prefix_len - 2, ", ", 2);
}

/* What stopped it: the walk, or we. */
static int ended(const struct gt_execlog_text *t, const struct gt_execlog_chunk *chunk, size_t at,
                 struct gt_error *err)
{
    if (t->status == GT_E_RANGE)
        return gt_error_set(err, GT_E_RANGE, "line %" PRIu64 " has more than %d MiB", t->number,
                            GT_EXECLOG_MOST_ROOM >> 20);
    if (t->status == GT_E_NOMEM)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (at < chunk->unpacked && t->status == 0)
        return gt_error_set(err, GT_E_FORMAT,
                            "vCPU %" PRIu32 ", line %" PRIu64
                            ": the event at byte %zu of the chunk's %" PRIu32 " is invalid",
                            chunk->vcpu, t->number, at, chunk->unpacked);
    return t->status ? t->status : t->number > t->o.query.to;
}

static struct gt_execlog_waiting *waiting_of(struct gt_execlog_text *t, uint32_t vcpu)
{
    if (vcpu >= t->n_waiting) {
        struct gt_execlog_waiting *more = realloc(t->waiting, (vcpu + 1) * sizeof *more);
        if (!more)
            return NULL;
        memset(more + t->n_waiting, 0, (vcpu + 1 - t->n_waiting) * sizeof *more);
        t->waiting = more;
        t->n_waiting = vcpu + 1;
    }
    return &t->waiting[vcpu];
}

int gt_execlog_text_add(struct gt_execlog_text *t, const struct gt_execlog_chunk *chunk,
                        const uint8_t *body, struct gt_error *err)
{
    struct gt_execlog_waiting *w = waiting_of(t, chunk->vcpu);
    if (!w)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    t->number = chunk->first;
    t->skip = chunk->other;
    if (t->status || t->number > t->o.query.to)
        return t->status ? t->status : 1;
    set_prefix(t, chunk->vcpu);
    if (!(chunk->flags & GT_EXECLOG_FROM_BEFORE)) /* the chunk that had the rest was left out */
        w->n = 0;
    gt_execlog_lines_take_up(t, w);
    if (chunk->flags & GT_EXECLOG_WITHIN_LINE && t->fill == t->line) {
        char *p = gt_execlog_lines_room(t, 1);
        t->broken = p;
        t->fill += p != NULL;
    }
    size_t at = gt_execlog_walk(&t->walk, &visitor, t, body, chunk->unpacked);
    gt_execlog_lines_put_aside(t, w);
    return ended(t, chunk, at, err);
}

void gt_execlog_text_lose(struct gt_execlog_text *t)
{
    for (size_t i = 0; i < t->n_waiting; i++)
        t->waiting[i].n = 0;
}

int gt_execlog_text_flush(struct gt_execlog_text *t)
{
    gt_execlog_lines_give(t);
    return t->status;
}
