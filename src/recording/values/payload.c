/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a call as bytes, in uftrace's form and in words: see payload.h. */
#include "recording/values/payload.h"

#include "base/bytes.h"
#include "base/cursor.h"

#include <stdio.h>
#include <string.h>

/* ---- uftrace's form ------------------------------------------------------------------------ */

enum { NULL_TEXT = 4 }; /* bytes of 0xff: the string is a null pointer */

static const uint8_t null_text[NULL_TEXT] = {0xff, 0xff, 0xff, 0xff};

static size_t pad(uint8_t *out, size_t n, size_t to)
{
    size_t end = (n + to - 1) / to * to;
    if (end > n)
        memset(out + n, 0, end - n);
    return end;
}

static const char cut_text[] = "...";
enum { CUT_TEXT = sizeof cut_text - 1, ADDRESS_TEXT = 24 };

static size_t put_address(char out[ADDRESS_TEXT], uint64_t addr)
{
    return (size_t)snprintf(out, ADDRESS_TEXT, "<0x%llx>", (unsigned long long)addr);
}

/* Returns its size. */
static size_t put_text(uint8_t *out, const struct gt_value *v, size_t most)
{
    size_t n = 0;
    if (v->kind == GT_VALUE_BYTES || v->kind == GT_VALUE_CUT) {
        n = v->size < most ? v->size : most;
        if (n)
            memcpy(out + 2, v->bytes, n);
    }
    if (v->kind == GT_VALUE_CUT) {
        memcpy(out + 2 + n, cut_text, CUT_TEXT);
        n += CUT_TEXT;
    } else if (v->kind == GT_VALUE_BAD_ADDRESS && !v->word) {
        memcpy(out + 2, null_text, n = NULL_TEXT);
    } else if (v->kind == GT_VALUE_BAD_ADDRESS) {
        n = put_address((char *)out + 2, v->word);
    }
    gt_bytes_put16(out, (uint16_t)n);
    return n + 2;
}

static size_t put_fixed(uint8_t *out, unsigned size, const struct gt_value *v)
{
    uint8_t word[8];
    const void *from = word;
    size_t have = 0;
    if (v->kind == GT_VALUE_WORD && size == sizeof word) {
        gt_bytes_put64(out, v->word);
        return size;
    }
    if (v->kind == GT_VALUE_WORD) {
        gt_bytes_put64(word, v->word);
        have = sizeof word;
    } else if (v->kind == GT_VALUE_BYTES) {
        from = v->bytes;
        have = v->size;
    }
    if (have > size)
        have = size;
    memset(out, 0, size);
    if (have)
        memcpy(out, from, have);
    return size;
}

size_t gt_values_put_uftrace(uint8_t *out, const struct gt_value_item *item,
                             const struct gt_value_list *list, size_t most)
{
    size_t at = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct gt_value *v = &list->value[i];
        at += gt_value_is_text(item[i].format) ? put_text(out + at, v, most)
                                               : put_fixed(out + at, item[i].size, v);
        at = pad(out, at, 4);
    }
    return pad(out, at, 8);
}

/* "<0x1234>" is what put_text makes of an address; another spelling is a text of the guest. */
static bool is_address(const char *text, size_t n, uint64_t *addr)
{
    struct gt_text_cursor c = {text, n};
    char same[ADDRESS_TEXT];
    return gt_text_take(&c, "<0x") && gt_text_take_lower_hex(&c, UINT64_MAX, addr) && *addr &&
           put_address(same, *addr) == n && memcmp(same, text, n) == 0;
}

/* A string of that size which ends so was cut: no guest's is as long. */
static bool is_cut(const uint8_t *text, size_t n)
{
    return n == GT_VALUE_STRING_MOST + CUT_TEXT &&
           memcmp(text + GT_VALUE_STRING_MOST, cut_text, CUT_TEXT) == 0;
}

static void take_text(struct gt_bytes_reader *r, struct gt_value *v)
{
    uint16_t n = gt_bytes_read_u16(r);
    const uint8_t *bytes = gt_bytes_read_bytes(r, n);
    uint64_t addr;
    *v = (struct gt_value){.kind = GT_VALUE_BYTES, .size = n, .bytes = bytes};
    if (!bytes)
        return;
    if (n == NULL_TEXT && memcmp(bytes, null_text, n) == 0)
        *v = (struct gt_value){.kind = GT_VALUE_BAD_ADDRESS};
    else if (is_address((const char *)bytes, n, &addr))
        *v = (struct gt_value){.kind = GT_VALUE_BAD_ADDRESS, .word = addr};
    else if (is_cut(bytes, n))
        *v = (struct gt_value){.kind = GT_VALUE_CUT, .size = GT_VALUE_STRING_MOST, .bytes = bytes};
}

/* A value of at most 8 bytes, as a word. */
static uint64_t word_of(const uint8_t *bytes, unsigned size, bool sign)
{
    uint64_t word = 0;
    if (size == 8)
        return gt_bytes_le64(bytes);
    for (unsigned i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    if (sign && size && size < 8 && word >> (8 * size - 1))
        word |= UINT64_MAX << (8 * size);
    return word;
}

void gt_value_set(struct gt_value *v, const struct gt_value_item *item, const void *bytes,
                  unsigned size)
{
    if (size <= 8)
        *v = (struct gt_value){.kind = GT_VALUE_WORD,
                               .word = word_of(bytes, size, gt_value_has_sign(item->format))};
    else
        *v = (struct gt_value){.kind = GT_VALUE_BYTES, .size = (uint16_t)size, .bytes = bytes};
}

int gt_values_get_uftrace(struct gt_bytes_reader *r, const struct gt_value_item *item, size_t n,
                          struct gt_value_list *out)
{
    const size_t all = r->left;
    if (n > GT_VALUES_MOST)
        return GT_E_FORMAT;
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        if (gt_value_is_text(item[i].format)) {
            take_text(r, &out->value[i]);
        } else {
            const uint8_t *bytes = gt_bytes_read_bytes(r, item[i].size);
            if (bytes)
                gt_value_set(&out->value[i], &item[i], bytes, item[i].size);
        }
        gt_bytes_read_bytes(r, (size_t) - (all - r->left) % 4);
    }
    gt_bytes_read_bytes(r, (size_t) - (all - r->left) % 8);
    return r->short_of ? GT_E_TRUNC : 0;
}

size_t gt_values_get_of(const struct gt_value_spec *spec, bool entry, const uint8_t *data,
                        size_t left, struct gt_value_list *out)
{
    const size_t n = !spec ? 0 : entry ? spec->n_arguments : spec->n_returns;
    struct gt_bytes_reader in;
    gt_bytes_reader_init(&in, data, left);
    if (n == 0 ||
        gt_values_get_uftrace(&in, spec->item + (entry ? 0 : spec->n_arguments), n, out) < 0)
        return 0;
    return left - in.left;
}

/* ---- words --------------------------------------------------------------------------------- */

enum { COUNT_BITS = 8, KIND_BITS = 4 };

size_t gt_values_put_words(uint64_t *out, const struct gt_value_list *list)
{
    uint64_t head = list->n;
    size_t at = 1;
    for (size_t i = 0; i < list->n; i++) {
        const struct gt_value *v = &list->value[i];
        head |= (uint64_t)v->kind << (COUNT_BITS + KIND_BITS * i);
        if (v->kind == GT_VALUE_WORD || v->kind == GT_VALUE_BAD_ADDRESS) {
            out[at++] = v->word;
        } else if (v->kind == GT_VALUE_BYTES || v->kind == GT_VALUE_CUT) {
            size_t n = v->size < GT_VALUE_STRING_MOST ? v->size : GT_VALUE_STRING_MOST;
            out[at++] = n;
            if (n) {
                out[at + (n - 1) / 8] = 0;
                memcpy(&out[at], v->bytes, n);
            }
            at += (n + 7) / 8;
        }
    }
    out[0] = head;
    return at;
}

/* Words that a value takes, of those left; 0: it is invalid, or not all there. */
static size_t take_bytes(const uint64_t *words, size_t left, uint8_t kind, struct gt_value *v)
{
    if (!left || words[0] > GT_VALUE_STRING_MOST)
        return 0;
    size_t n = (size_t)words[0], need = 1 + (n + 7) / 8;
    *v = (struct gt_value){.kind = kind, .size = (uint16_t)n, .bytes = words + 1};
    /* What pads it is 0: two payloads of the same values are the same. */
    if (need > left || (n % 8 && words[need - 1] >> (8 * (n % 8))))
        return 0;
    return need;
}

size_t gt_values_get_words(const uint64_t *words, size_t n, struct gt_value_list *out)
{
    if (!n || (words[0] & 0xff) > GT_VALUES_MOST)
        return 0;
    size_t at = 1;
    uint64_t kinds = words[0] >> COUNT_BITS;
    out->n = words[0] & 0xff;
    for (size_t i = 0; i < out->n; i++, kinds >>= KIND_BITS) {
        uint8_t kind = kinds & 15;
        size_t took = 0;
        if (kind == GT_VALUE_ABSENT) {
            out->value[i] = (struct gt_value){.kind = kind};
            continue;
        }
        if (kind == GT_VALUE_BYTES || kind == GT_VALUE_CUT) {
            took = take_bytes(words + at, n - at, kind, &out->value[i]);
        } else if (kind == GT_VALUE_WORD || kind == GT_VALUE_BAD_ADDRESS) {
            took = at < n;
            out->value[i] = (struct gt_value){.kind = kind, .word = took ? words[at] : 0};
        }
        if (!took)
            return 0;
        at += took;
    }
    return kinds ? 0 : at;
}
