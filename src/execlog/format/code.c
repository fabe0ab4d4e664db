/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading definitions: see code.h. Blocks are found by id in a table of two levels, and are
 * allocated from large pieces of memory. */
#include "execlog/format/code.h"

#include "base/number.h"
#include "execlog/format/set.h"

#include <stdlib.h>

enum {
    PIECE = 1 << 20,
    LINE = 40, /* bytes that a line's text has beside its disassembly, at most */
    MOST_DEVICES = 65536,
};

struct gt_execlog_piece {
    struct gt_execlog_piece *next;
    char data[];
};

struct gt_execlog_codes *gt_execlog_codes_create(void)
{
    struct gt_execlog_codes *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->pages = calloc(GT_EXECLOG_PAGES, sizeof *c->pages);
    c->devices = calloc(MOST_DEVICES, sizeof *c->devices);
    if (c->pages && c->devices)
        return c;
    gt_execlog_codes_destroy(c);
    return NULL;
}

void gt_execlog_codes_destroy(struct gt_execlog_codes *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->pages && i < GT_EXECLOG_PAGES; i++)
        free(c->pages[i]);
    for (struct gt_execlog_piece *p = c->pieces, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(c->pages);
    free(c->devices);
    free(c);
}

/* Memory that lives as long as the codes; what follows it may be read. NULL: there is no more. */
static void *take(struct gt_execlog_codes *c, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (n > c->left) {
        size_t size = n > PIECE ? n : PIECE;
        struct gt_execlog_piece *p = NULL;
        if (c->taken + size <= GT_EXECLOG_MOST_CODE)
            p = malloc(sizeof *p + size + GT_EXECLOG_SLACK);
        if (!p)
            return NULL;
        memset(p->data + size, 0, GT_EXECLOG_SLACK);
        p->next = c->pieces;
        c->pieces = p;
        c->taken += size;
        c->at = p->data;
        c->left = size;
    }
    void *found = c->at;
    c->at += n;
    c->left -= n;
    return found;
}

static int no_room(struct gt_error *err)
{
    return gt_error_set(err, GT_E_RANGE, "definitions take more than %d MiB, or there is no memory",
                        GT_EXECLOG_MOST_CODE >> 20);
}

/* ---- blocks -------------------------------------------------------------------------------- */

struct insn {
    uint64_t address;
    uint32_t opcode;
    const uint8_t *text;
    size_t len;
};

/* *address is that of the one before. */
static bool read_insn(struct gt_bytes_reader *r, uint64_t *address, struct insn *out)
{
    uint64_t v = gt_execlog_get_number(r), opcode = gt_execlog_get_number(r);
    *address += v >> 1 ^ (0 - (v & 1));
    out->address = *address;
    out->opcode = (uint32_t)opcode;
    out->len = gt_execlog_get_number(r);
    out->text = out->len <= GT_EXECLOG_MAX_TEXT ? gt_bytes_read_bytes(r, out->len) : NULL;
    return out->text && !r->short_of && opcode <= UINT32_MAX;
}

static char *put_line(char *p, const struct insn *insn)
{
    memcpy(p, "0x", 2);
    p = gt_text_hex_put(p + 2, insn->address);
    memcpy(p, ", 0x", 4);
    p = gt_text_hex_put(p + 4, insn->opcode);
    memcpy(p, ", \"", 3);
    memcpy(p + 3, insn->text, insn->len);
    p += 3 + insn->len;
    *p++ = '"';
    return p;
}

/* The block's n instructions, which were seen to be well-formed. */
static struct gt_execlog_code *make_code(struct gt_execlog_codes *c, struct gt_bytes_reader *r,
                                         size_t n, size_t texts)
{
    struct gt_execlog_code *code = take(c, sizeof *code + n * sizeof code->addresses[0]);
    uint32_t *ends = take(c, (n + 1) * sizeof *ends);
    char *text = take(c, texts + n * LINE);
    if (!code || !ends || !text)
        return NULL;
    code->text = text;
    code->ends = ends;
    uint64_t address = 0;
    struct insn insn;
    for (size_t i = 0; i < n; i++) {
        read_insn(r, &address, &insn);
        code->addresses[i] = address;
        ends[i] = (uint32_t)(text - code->text);
        text = put_line(text, &insn);
    }
    ends[n] = (uint32_t)(text - code->text);
    return code;
}

static int keep(struct gt_execlog_codes *c, struct gt_execlog_code *code, struct gt_error *err)
{
    uint32_t id = code->block.id;
    struct gt_execlog_code ***page = &c->pages[id / GT_EXECLOG_PAGE];
    if (!*page)
        *page = calloc(GT_EXECLOG_PAGE, sizeof **page);
    if (!*page)
        return no_room(err);
    (*page)[id % GT_EXECLOG_PAGE] = code;
    return 0;
}

static int learn_block(struct gt_execlog_codes *c, struct gt_bytes_reader *r,
                       struct gt_execlog_block *next, struct gt_error *err)
{
    uint64_t n = gt_execlog_get_number(r), address = 0;
    struct gt_bytes_reader again = *r;
    struct insn insn;
    size_t texts = 0;
    if (n == 0 || n > GT_EXECLOG_MAX_INSNS || next->id >= (uint32_t)1 << 30 || next->id == 0)
        return GT_E_FORMAT;
    for (uint64_t i = 0; i < n; i++) {
        if (!read_insn(r, &address, &insn))
            return GT_E_FORMAT;
        texts += insn.len;
    }
    int status = 0;
    if (!gt_execlog_codes_find(c, next->id)) {
        struct gt_execlog_code *code = make_code(c, &again, n, texts);
        if (!code)
            return no_room(err);
        code->block = (struct gt_execlog_block){next->id, (uint32_t)n, next->first};
        status = keep(c, code, err);
    }
    next->id++;
    next->first += (uint32_t)n;
    return status;
}

/* ---- names --------------------------------------------------------------------------------- */

static int learn_name(struct gt_execlog_codes *c, struct gt_bytes_reader *r, bool device,
                      struct gt_error *err)
{
    uint64_t number = gt_execlog_get_number(r), size = device ? 0 : gt_execlog_get_number(r);
    uint64_t len = gt_execlog_get_number(r);
    const uint8_t *name = len <= GT_EXECLOG_MAX_TEXT ? gt_bytes_read_bytes(r, len) : NULL;
    if (!name || number >= (device ? MOST_DEVICES : GT_EXECLOG_MAX_REGISTERS) ||
        size > GT_EXECLOG_MAX_VALUE)
        return GT_E_FORMAT;
    struct gt_execlog_name *n = device ? &c->devices[number] : &c->registers[number];
    if (n->text)
        return 0;
    char *p = take(c, len + 16);
    if (!p)
        return no_room(err);
    n->text = p;
    memcpy(p, ", ", 2);
    memcpy(p + 2, name, len);
    p += 2 + len;
    if (!device) {
        memcpy(p, " -> 0x", 6);
        p += 6;
    }
    n->len = (uint32_t)(p - n->text);
    n->size = (uint32_t)size;
    return 0;
}

const struct gt_execlog_name *gt_execlog_codes_device(const struct gt_execlog_codes *c,
                                                      uint32_t number)
{
    return number < MOST_DEVICES && c->devices[number].text ? &c->devices[number] : NULL;
}

const struct gt_execlog_name *gt_execlog_codes_register(const struct gt_execlog_codes *c,
                                                        uint32_t number)
{
    return number < GT_EXECLOG_MAX_REGISTERS && c->registers[number].text ? &c->registers[number]
                                                                          : NULL;
}

/* ---- a body -------------------------------------------------------------------------------- */

static int learn_record(struct gt_execlog_codes *c, struct gt_bytes_reader *r,
                        struct gt_execlog_block *next, struct gt_error *err)
{
    switch (gt_bytes_read_u8(r)) {
    case GT_EXECLOG_D_BLOCK:
        return learn_block(c, r, next, err);
    case GT_EXECLOG_D_DEVICE:
        return learn_name(c, r, true, err);
    case GT_EXECLOG_D_REGISTER:
        return learn_name(c, r, false, err);
    default:
        return GT_E_FORMAT;
    }
}

int gt_execlog_codes_learn(struct gt_execlog_codes *c, const struct gt_execlog_chunk *chunk,
                           const uint8_t *body, struct gt_error *err)
{
    struct gt_execlog_block next = {(uint32_t)chunk->first, 0, chunk->insn};
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, body, chunk->unpacked);
    if (chunk->first > UINT32_MAX)
        next.id = 0;
    while (r.left) {
        size_t at = chunk->unpacked - r.left;
        int status = learn_record(c, &r, &next, err);
        if (status == GT_E_FORMAT || r.short_of)
            return gt_error_set(err, GT_E_FORMAT, "no definition at byte %zu of its %u", at,
                                chunk->unpacked);
        if (status < 0)
            return status;
    }
    return 0;
}
