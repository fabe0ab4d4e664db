/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a call as text, one way for all readers: see payload.h. */
#include "base/bytes.h"
#include "base/text.h"
#include "recording/values/payload.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct show {
    struct gt_text *t;
    const struct gt_values *values;
    const char *(*name_of)(void *self, uint64_t addr);
    void *self;
};

static void put_escaped(struct gt_text *t, const char *bytes, size_t n, char quote)
{
    static const char plain[] = "ntr0abfv", special[] = "\n\t\r\0\a\b\f\v";
    for (size_t length; n; bytes += length, n -= length) {
        char c = *bytes;
        length = gt_text_utf8_length(bytes, n);
        const char *known = memchr(special, c, sizeof special - 1);
        bool control = (length == 1 && ((unsigned char)c < ' ' || c == 0x7f)) ||
                       (length == 2 && c == '\xc2' && (unsigned char)bytes[1] < 0xa0);
        if (known)
            gt_text_printf(t, "\\%c", plain[known - special]);
        else if (c == quote || c == '\\')
            gt_text_printf(t, "\\%c", c);
        else if (length && !control)
            gt_text_add(t, bytes, length);
        else
            for (size_t i = 0; i < (length ? length : 1); i++)
                gt_text_printf(t, "\\x%02x", (unsigned char)bytes[i]);
        if (!length)
            length = 1;
    }
}

static void show_text(const struct show *s, const struct gt_value *v)
{
    gt_text_add(s->t, "\"", 1);
    put_escaped(s->t, v->bytes, v->size, '"');
    gt_text_printf(s->t, v->kind == GT_VALUE_CUT ? "\"..." : "\"");
}

/* Long doubles reach 10^4932. */
static void show_real(const struct show *s, long double real)
{
    bool plain = isnan(real) || isinf(real) || fabsl(real) < (long double)DBL_MAX;
    gt_text_printf(s->t, plain ? "%Lf" : "%Lg", real);
}

static void show_flags(const struct show *s, const struct gt_value_enum *e, uint64_t left)
{
    const char *between = "";
    for (size_t i = 0; i < e->n; i++) {
        uint64_t bits = (uint64_t)e->value[i].value;
        if (!bits || (left & bits) != bits)
            continue;
        gt_text_printf(s->t, "%s%.200s", between, e->value[i].name);
        left &= ~bits;
        between = "|";
    }
    if (left || !*between)
        gt_text_printf(s->t, "%s0x%" PRIx64, between, left);
}

static void show_enum(const struct show *s, const struct gt_value_item *item, uint64_t word)
{
    const struct gt_value_enum *e = s->values ? gt_values_enum(s->values, item->type) : NULL;
    uint64_t mask = item->size < 8 ? ~(UINT64_MAX << (8 * item->size)) : UINT64_MAX;
    for (size_t i = 0; e && i < e->n; i++) {
        if ((((uint64_t)e->value[i].value ^ word) & mask) == 0) {
            gt_text_printf(s->t, "%.200s", e->value[i].name);
            return;
        }
    }
    if (e && e->flags)
        show_flags(s, e, word & mask);
    else
        gt_text_printf(s->t, "%" PRId64, (int64_t)word);
}

static void show_struct(const struct show *s, const struct gt_value_item *item,
                        const struct gt_value *v)
{
    uint8_t word[8];
    const uint8_t *bytes = v->bytes;
    size_t n = v->size;
    if (v->kind == GT_VALUE_WORD) {
        gt_bytes_put64(word, v->word);
        bytes = word;
        n = item->size < sizeof word ? item->size : sizeof word;
    }
    gt_text_printf(s->t, "%.200s{", item->type ? item->type : "");
    for (size_t at = 0; at < n; at += 8) {
        uint64_t part = 0;
        for (size_t i = at; i < n && i < at + 8; i++)
            part |= (uint64_t)bytes[i] << (8 * (i - at));
        gt_text_printf(s->t, "%s0x%" PRIx64, at ? ", " : "", part);
    }
    gt_text_add(s->t, "}", 1);
}

static void show_pointer(const struct show *s, uint64_t addr)
{
    const char *name = addr && s->name_of ? s->name_of(s->self, addr) : NULL;
    if (name)
        gt_text_printf(s->t, "&%.200s", name);
    else
        gt_text_printf(s->t, "0x%" PRIx64, addr);
}

static void show_char(const struct show *s, uint64_t word)
{
    char c = (char)word;
    gt_text_add(s->t, "'", 1);
    put_escaped(s->t, &c, 1, '\'');
    gt_text_add(s->t, "'", 1);
}

enum { AUTO_DECIMAL = 100000 }; /* the largest that GT_VALUE_AUTO shows in decimal */

static void show_word(const struct show *s, const struct gt_value_item *item, uint64_t word)
{
    uint64_t mask = item->size && item->size < 8 ? ~(UINT64_MAX << (8 * item->size)) : UINT64_MAX;
    int64_t number = (int64_t)word;
    switch ((enum gt_value_format)item->format) {
    case GT_VALUE_AUTO:
        if (number > AUTO_DECIMAL || number < -AUTO_DECIMAL)
            gt_text_printf(s->t, "0x%" PRIx64, word & mask);
        else
            gt_text_printf(s->t, "%" PRId64, number);
        return;
    case GT_VALUE_SIGNED:
        gt_text_printf(s->t, "%" PRId64, number);
        return;
    case GT_VALUE_UNSIGNED:
        gt_text_printf(s->t, "%" PRIu64, word & mask);
        return;
    case GT_VALUE_OCTAL:
        gt_text_printf(s->t, "%#" PRIo64, word & mask);
        return;
    case GT_VALUE_CHAR:
        show_char(s, word);
        return;
    case GT_VALUE_BOOL:
        gt_text_printf(s->t, word & mask ? "true" : "false");
        return;
    case GT_VALUE_ENUM:
        show_enum(s, item, word);
        return;
    case GT_VALUE_POINTER:
        show_pointer(s, word & mask);
        return;
    default:
        gt_text_printf(s->t, "0x%" PRIx64, word & mask);
    }
}

static void show_value(const struct show *s, const struct gt_value_item *item,
                       const struct gt_value *v)
{
    bool bytes = v->kind == GT_VALUE_BYTES || v->kind == GT_VALUE_CUT;
    if (v->kind == GT_VALUE_ABSENT)
        gt_text_add(s->t, "?", 1);
    else if (v->kind == GT_VALUE_BAD_ADDRESS && !v->word)
        gt_text_add(s->t, "NULL", 4);
    else if (v->kind == GT_VALUE_BAD_ADDRESS)
        gt_text_printf(s->t, "<0x%" PRIx64 ">", v->word);
    else if (bytes && gt_value_is_text(item->format))
        show_text(s, v);
    else if (item->format == GT_VALUE_FLOAT && (!bytes || v->size == item->size))
        show_real(s, gt_value_real(item, v));
    else if (bytes || item->format == GT_VALUE_STRUCT)
        show_struct(s, item, v);
    else
        show_word(s, item, v->word);
}

/* Of what an argument points to: the name behind the argument's, which it follows; else NULL. */
static const char *member_of(const struct gt_value_item *item)
{
    const char *dot =
        item->name && !item->number && !item->is_return ? strchr(item->name, '.') : NULL;
    return dot ? dot + 1 : NULL;
}

void gt_values_show(struct gt_text *t, const struct gt_values *values,
                    const struct gt_value_item *item, const struct gt_value_list *list, bool names,
                    const char *(*name_of)(void *self, uint64_t addr), void *self)
{
    const struct show s = {t, values, name_of, self};
    bool open = false;
    for (size_t i = 0; i < list->n; i++) {
        const char *name = item[i].name;
        const char *member = i && names ? member_of(&item[i]) : NULL;
        if (open && !member)
            gt_text_add(t, "}", 1);
        if (member && !open)
            gt_text_add(t, "{", 1);
        else if (i)
            gt_text_add(t, ", ", 2);
        open = member != NULL;
        if (names && name)
            gt_text_printf(t, "%.200s=", member ? member : name);
        if (item[i].format == GT_VALUE_STRUCT && names && i + 1 < list->n &&
            member_of(&item[i + 1]))
            gt_text_printf(t, "%.200s", item[i].type ? item[i].type : ""); /* they follow */
        else
            show_value(&s, &item[i], &list->value[i]);
        if (item[i].unsure)
            gt_text_add(t, "?", 1);
    }
    if (open)
        gt_text_add(t, "}", 1);
}
