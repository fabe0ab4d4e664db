/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the kallsyms tables in a kernel's data: see kallsyms.h. */
#include "guest/kernel/kallsyms.h"

#include <endian.h>
#include <string.h>

/* What a hostile image may make us do: places of digits looked at, symbols walked over. */
#define TRIES_MAX  4096
#define WALKED_MAX (64u << 20)

#define SYMBOLS_MAX (4u << 20)
#define SYMBOLS_MIN 32
#define INDEX_SIZE  512

uint32_t gt_kallsyms_u32(const uint8_t *data, size_t at)
{
    uint32_t v;

    memcpy(&v, data + at, sizeof v);
    return le32toh(v);
}

uint64_t gt_kallsyms_word(const uint8_t *data, size_t at, unsigned word)
{
    uint64_t v;

    if (word == 4)
        return gt_kallsyms_u32(data, at);
    memcpy(&v, data + at, sizeof v);
    return le64toh(v);
}

static unsigned index_at(const struct gt_kallsyms *t, size_t i)
{
    return t->data[t->token_index + 2 * i] | (unsigned)t->data[t->token_index + 2 * i + 1] << 8;
}

static size_t align(size_t at, unsigned to)
{
    return (at + to - 1) & ~(size_t)(to - 1);
}

/* token_index says where each token begins, which is after the 0 of the one before. */
static bool index_agrees(const struct gt_kallsyms *t)
{
    size_t room = t->token_end - t->token_table;

    if (index_at(t, 0) != 0)
        return false;
    for (size_t i = 0; i < 256; i++) {
        size_t from = index_at(t, i), to = i < 255 ? index_at(t, i + 1) : room;
        const uint8_t *text = t->data + t->token_table + from;
        if (from >= to || to > room || memchr(text, 0, to - from) != text + (to - from - 1))
            return false;
    }
    return true;
}

/* The digits' tokens begin at digits: walks to the end of the tokens, then back by token_index. */
static bool find_tokens(struct gt_kallsyms *t, size_t digits)
{
    size_t at = digits;

    for (int token = '0'; token < 256; token++) {
        size_t left = t->size - at < 512 ? t->size - at : 512;
        const uint8_t *end = left ? memchr(t->data + at, 0, left) : NULL;
        if (!end)
            return false;
        at = (size_t)(end - t->data) + 1;
    }
    t->token_end = at;
    t->token_index = align(at, t->align);
    if (t->token_index > t->size || t->size - t->token_index < INDEX_SIZE ||
        index_at(t, '0') > digits)
        return false;
    t->token_table = digits - index_at(t, '0');
    return index_agrees(t);
}

static bool is_type(char c)
{
    return c != '\0' && strchr("AaBbCcDdGgIiNnpPRrSsTtUuVvWw?-", c) != NULL;
}

/* One entry of names at *at, which moves after it; its first token in *token. */
static bool walk(const struct gt_kallsyms *t, size_t *at, size_t end, uint8_t *token)
{
    size_t length;

    if (end - *at < 2)
        return false;
    length = t->data[(*at)++];
    if (length & 0x80)
        length = (length & 0x7f) | (size_t)t->data[(*at)++] << 7;
    if (length == 0 || length > end - *at)
        return false;
    *token = t->data[*at];
    *at += length;
    return true;
}

static bool names_begin(const struct gt_kallsyms *t, size_t at, size_t end)
{
    uint8_t token;

    for (unsigned i = 0; i < SYMBOLS_MIN; i++)
        if (!walk(t, &at, end, &token) ||
            !is_type((char)t->data[t->token_table + index_at(t, token)]))
            return false;
    return true;
}

static bool markers_agree(const struct gt_kallsyms *t, size_t *budget)
{
    size_t at = t->names, end = t->token_table;
    uint8_t token;

    for (uint32_t i = 0; i < t->n; i++) {
        if (i % 256 == 0 && gt_kallsyms_word(t->data, t->markers + i / 256 * t->marker_size,
                                             t->marker_size) != at - t->names)
            return false;
        if (*budget == 0 || !walk(t, &at, end, &token))
            return false;
        --*budget;
    }
    return true;
}

/* names at `at`, and markers, which begin after the last name, aligned. */
static bool names_behind(struct gt_kallsyms *t, size_t at, size_t *budget)
{
    size_t end = t->token_table, here = at;
    uint8_t token;

    t->num_syms = at - t->align;
    t->names = at;
    if (!names_begin(t, t->names, end))
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        if (*budget == 0 || !walk(t, &here, end, &token))
            return false;
        --*budget;
    }
    t->markers = align(here, t->align);
    for (t->marker_size = 4; t->marker_size <= t->word; t->marker_size += 4)
        if (t->markers <= end &&
            (end - t->markers) / t->marker_size >= ((size_t)t->n + 255) / 256 &&
            markers_agree(t, budget))
            return true;
    return false;
}

/* num_syms is looked for backwards from token_table; names take at least two bytes each. */
static bool find_names(struct gt_kallsyms *t, size_t *budget)
{
    size_t at = t->token_table & ~(size_t)(t->align - 1);

    for (; at >= t->align; at -= t->align) {
        uint64_t n = gt_kallsyms_word(t->data, at - t->align, t->align);
        if (n < SYMBOLS_MIN || n > SYMBOLS_MAX || n > (t->token_table - at) / 2)
            continue;
        t->n = (uint32_t)n;
        if (names_behind(t, at, budget))
            return true;
        if (*budget == 0)
            return false;
    }
    return false;
}

uint64_t gt_kallsyms_value(const struct gt_kallsyms *t, size_t i)
{
    uint32_t v;

    if (t->kind == GT_KALLSYMS_ADDRESSES)
        return gt_kallsyms_word(t->data, t->values + i * t->word, t->word);
    v = gt_kallsyms_u32(t->data, t->values + i * 4);
    if (t->kind == GT_KALLSYMS_OFFSETS)
        return v;
    if (t->kind == GT_KALLSYMS_PLACES)
        return GT_KALLSYMS_BIAS + t->values + i * 4 + (uint64_t)(int64_t)(int32_t)v;
    /* in the order of the addresses: relative ones above all others */
    return (int32_t)v >= 0 ? v : (uint64_t)UINT32_MAX + (uint64_t)(-(int64_t)(int32_t)v);
}

/* What each kind must contain: relative_base is the address of the lowest symbol that is relative.
 */
static bool is_anchor(const struct gt_kallsyms *t, size_t i, uint64_t v)
{
    switch (t->kind) {
    case GT_KALLSYMS_OFFSETS:
        return i == 0 && v == 0;
    case GT_KALLSYMS_PERCPU:
        return v == (uint64_t)UINT32_MAX + 1;
    case GT_KALLSYMS_PLACES:
        return i == 0 && v < GT_KALLSYMS_BIAS + t->values; /* code goes before data */
    default:                                               /* a kernel runs in the upper half */
        return i == t->n - 1 && v >> (8 * t->word - 1);
    }
}

/* Addresses ascend, and not in a few steps only. */
static bool is_table(const struct gt_kallsyms *t)
{
    uint64_t last = gt_kallsyms_value(t, 0);
    bool anchored = false;
    size_t steps = 0;

    for (size_t i = 0; i < t->n; i++) {
        uint64_t v = gt_kallsyms_value(t, i);
        if (v < last)
            return false;
        steps += v > last;
        anchored |= is_anchor(t, i, v);
        last = v;
    }
    return anchored && steps >= t->n / 4;
}

static bool try_values(struct gt_kallsyms *t, enum gt_kallsyms_kind kind, size_t at)
{
    size_t n = (size_t)t->n * (kind == GT_KALLSYMS_ADDRESSES ? t->word : 4);

    t->kind = kind;
    t->values = at;
    t->base = align(at + n, t->word);
    if (at <= t->size && n <= t->size - at &&
        (kind == GT_KALLSYMS_ADDRESSES || kind == GT_KALLSYMS_PLACES ||
         (t->base <= t->size && t->word <= t->size - t->base)) &&
        is_table(t))
        return true;
    return false;
}

static bool find_values(struct gt_kallsyms *t)
{
    size_t after = align(t->token_index + INDEX_SIZE, t->align);
    size_t offsets = align((size_t)t->n * 4, t->word) + t->word, words = (size_t)t->n * t->word;

    if (try_values(t, GT_KALLSYMS_OFFSETS, after) || try_values(t, GT_KALLSYMS_PERCPU, after) ||
        (t->word == 8 && try_values(t, GT_KALLSYMS_PLACES, after)) ||
        try_values(t, GT_KALLSYMS_ADDRESSES, after))
        return true;
    if (offsets <= t->num_syms && (try_values(t, GT_KALLSYMS_OFFSETS, t->num_syms - offsets) ||
                                   try_values(t, GT_KALLSYMS_PERCPU, t->num_syms - offsets)))
        return true;
    return words <= t->num_syms && try_values(t, GT_KALLSYMS_ADDRESSES, t->num_syms - words);
}

/* With the digits' tokens at digits; both ways of alignment can be right until the values are seen.
 */
static bool find_around(struct gt_kallsyms *t, size_t digits, size_t *budget)
{
    for (t->align = t->word; t->align >= 4; t->align -= 4) {
        if (!find_tokens(t, digits) || !find_names(t, budget))
            continue;
        t->seen = t->n;
        if (find_values(t))
            return true;
    }
    return false;
}

bool gt_kallsyms_find(struct gt_kallsyms *t, const uint8_t *data, size_t size, unsigned word)
{
    static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009"; /* and its 0 */
    const uint8_t *at = data, *end = data + size;
    size_t budget = WALKED_MAX;

    memset(t, 0, sizeof *t);
    t->data = data;
    t->size = size;
    t->word = word;
    for (int i = 0; i < TRIES_MAX && budget; i++) {
        at = memmem(at, (size_t)(end - at), digits, sizeof digits);
        if (!at)
            break;
        if (find_around(t, (size_t)(at - data), &budget))
            return true;
        at++;
    }
    return false;
}
