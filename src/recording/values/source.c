/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a value is, as text: the grammar of sources is in spec.h. */
#include "base/cursor.h"
#include "recording/values/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ["-"] (decimal | 0xHEX), within 32 bits. */
static bool take_offset(struct gt_text_cursor *c, int32_t *out)
{
    struct gt_text_cursor at = *c;
    uint64_t n;
    bool minus = gt_text_take(&at, "-");
    if (!(gt_text_take(&at, "0x") ? gt_text_take_hex(&at, INT32_MAX, &n)
                                  : gt_text_take_dec(&at, INT32_MAX, &n)))
        return false;
    *out = minus ? -(int32_t)n : (int32_t)n;
    *c = at;
    return true;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

/* The place of a register's end in *end: a NUL belongs there, once the text was read. */
static const char *take_base(struct gt_text_cursor *c, struct gt_value_piece *p, char **end)
{
    *end = NULL;
    if (gt_text_take(c, "stack+"))
        return take_offset(c, &p->offset) ? NULL : "a number after stack+";
    if (!gt_text_take(c, "%"))
        return "%REGISTER or stack+OFFSET";
    p->reg = c->at;
    while (c->left && is_name(*c->at)) {
        c->at++;
        c->left--;
    }
    if (c->at == p->reg)
        return "a register's name after %";
    *end = (char *)c->at;
    if (gt_text_take(c, "+") &&
        (!take_offset(c, &p->offset) || p->offset < 0 || p->offset > UINT8_MAX))
        return "a byte of the register after +, at most 255";
    return NULL;
}

static const char *take_piece(struct gt_text_cursor *c, struct gt_value_piece *p, char **end)
{
    const char *expected = take_base(c, p, end);
    uint64_t size = 0;
    while (!expected && gt_text_take(c, "*")) {
        if (p->n_steps == GT_VALUE_STEPS)
            return "at most 4 addresses to follow";
        if (!take_offset(c, &p->step[p->n_steps++]))
            return "an offset after *";
    }
    if (!expected && gt_text_take(c, ":")) {
        if (!gt_text_take_dec(c, GT_VALUE_SIZE_MOST, &size) || !size)
            return "a size of 1 to 64 bytes after :";
        p->size = (uint16_t)size;
    }
    return expected;
}

const char *gt_value_source_read(char *text, struct gt_value_item *item)
{
    struct gt_text_cursor c = {text, strlen(text)};
    char *end[GT_VALUE_PIECES];
    unsigned sum = 0, n = 0;
    do {
        if (n == GT_VALUE_PIECES)
            return "at most 4 pieces";
        item->piece[n] = (struct gt_value_piece){0};
        const char *expected = take_piece(&c, &item->piece[n], &end[n]);
        if (expected)
            return expected;
        sum += item->piece[n].size;
        n++;
    } while (gt_text_take(&c, "|"));
    if (c.left)
        return "|, or the end of the source";
    for (unsigned i = 0; n > 1 && i < n; i++)
        if (!item->piece[i].size)
            return "a size of each piece";
    if (n > 1 && gt_value_is_text(item->format)) {
        if (n > 2)
            return "at most 2 pieces of a text: its address, its length";
    } else if (n > 1 && sum != item->size)
        return "pieces that have all bytes of the value";
    for (unsigned i = 0; i < n; i++)
        if (end[i])
            *end[i] = 0;
    item->n_pieces = (uint8_t)n;
    return NULL;
}

static void put_piece(char **at, const char *end, const struct gt_value_piece *p)
{
    size_t room = (size_t)(end - *at);
    int n = !p->reg     ? snprintf(*at, room, "stack+%" PRId32, p->offset)
            : p->offset ? snprintf(*at, room, "%%%s+%" PRId32, p->reg, p->offset)
                        : snprintf(*at, room, "%%%s", p->reg);
    *at += (size_t)n < room ? (size_t)n : room;
    for (unsigned i = 0; i < p->n_steps; i++) {
        room = (size_t)(end - *at);
        n = snprintf(*at, room, "*%" PRId32, p->step[i]);
        *at += (size_t)n < room ? (size_t)n : room;
    }
    room = (size_t)(end - *at);
    n = p->size ? snprintf(*at, room, ":%u", p->size) : 0;
    *at += (size_t)n < room ? (size_t)n : room;
}

int gt_value_source_write(char out[GT_VALUE_SOURCE_TEXT], const struct gt_value_item *item)
{
    char *at = out, *end = out + GT_VALUE_SOURCE_TEXT;
    snprintf(out, GT_VALUE_SOURCE_TEXT, "-");
    if (item->n_pieces > GT_VALUE_PIECES)
        return GT_E_RANGE;
    for (unsigned i = 0; i < item->n_pieces && at < end; i++) {
        if (i)
            *at++ = '|';
        if (item->piece[i].n_steps > GT_VALUE_STEPS)
            return GT_E_RANGE;
        put_piece(&at, end, &item->piece[i]);
    }
    return at < end ? 0 : GT_E_RANGE;
}
