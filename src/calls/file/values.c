/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of calls, what packer and unpacker have in common: see values.h. */
#include "calls/file/values.h"

#include "base/fnv.h"

#include <stdlib.h>
#include <string.h>

/* ---- layouts: bits 3 to 5 are 6, 6 to 9 how many values, then 3 bits of each --------------- */

enum { MAGIC = 6, MAGIC_AT = 3, COUNT_AT = 6, KINDS_AT = 10, KIND_BITS = 3 };
_Static_assert(KINDS_AT + KIND_BITS * GT_VALUES_MOST <= 64, "a word");
_Static_assert(GT_VALUES_MOST < 1 << (KINDS_AT - COUNT_AT), "a count");

uint64_t gt_compact_values_layout(const struct gt_value_list *list)
{
    uint64_t word = (uint64_t)MAGIC << MAGIC_AT | (uint64_t)list->n << COUNT_AT;
    for (size_t i = 0; i < list->n; i++)
        word |= (uint64_t)list->value[i].kind << (KINDS_AT + KIND_BITS * i);
    return word;
}

bool gt_compact_values_of_layout(uint64_t word, struct gt_value_list *out)
{
    out->n = word >> COUNT_AT & ((1u << (KINDS_AT - COUNT_AT)) - 1);
    if (out->n > GT_VALUES_MOST)
        return false;
    for (size_t i = 0; i < out->n; i++) {
        out->value[i] = (struct gt_value){
            .kind = (uint8_t)(word >> (KINDS_AT + KIND_BITS * i) & ((1u << KIND_BITS) - 1))};
        if (out->value[i].kind > GT_VALUE_BAD_ADDRESS)
            return false;
    }
    return gt_compact_values_layout(out) == word;
}

/* ---- texts --------------------------------------------------------------------------------- */

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = GT_FNV_BEGIN;
    for (size_t i = 0; i < size; i++)
        hash = gt_bytes_fnv(hash, bytes[i]);
    return hash ^ hash >> 32;
}

/* Where the text's number is, or the next one's would be. NULL: too many are in its place; it then
 * comes without one. */
static uint32_t *slot_of(const struct gt_compact_texts_seen *t, const void *bytes, size_t size)
{
    enum { PROBES = 32, MASK = 2 * GT_TEXTS_MOST - 1 };
    uint64_t hash = hash_of(bytes, size);
    for (uint64_t i = hash; i < hash + PROBES; i++) {
        uint32_t *slot = &t->number[i & MASK];
        size_t n;
        const uint8_t *text = *slot ? gt_compact_texts_at(t, *slot, &n) : NULL;
        if (!text || (n == size && memcmp(text, bytes, n) == 0))
            return slot;
    }
    return NULL;
}

uint32_t gt_compact_texts_find(const struct gt_compact_texts_seen *t, const void *bytes,
                               size_t size)
{
    const uint32_t *slot = slot_of(t, bytes, size);
    return slot ? *slot : 0;
}

uint32_t gt_compact_texts_add(struct gt_compact_texts_seen *t, const void *bytes, size_t size)
{
    const uint32_t from = t->end[t->n];
    if (t->n + 1 >= GT_TEXTS_MOST || size > GT_TEXTS_BYTES_MOST - from)
        return 0;
    uint32_t *slot = t->number ? slot_of(t, bytes, size) : NULL;
    if (size)
        memcpy(t->bytes + from, bytes, size);
    t->end[++t->n] = from + (uint32_t)size;
    if (slot)
        *slot = t->n;
    return t->n;
}

const uint8_t *gt_compact_texts_at(const struct gt_compact_texts_seen *t, uint32_t number,
                                   size_t *size)
{
    *size = t->end[number] - t->end[number - 1];
    return t->bytes + t->end[number - 1];
}

/* ---- the model ----------------------------------------------------------------------------- */

bool gt_compact_value_model_begin(struct gt_compact_value_model *m, bool finds)
{
    struct gt_compact_texts_seen *t = &m->texts;
    if (m->guess && m->used)
        return true;
    if (!m->guess)
        m->guess = calloc(GT_MODEL_SIZE, sizeof *m->guess);
    if (!t->end)
        t->end = calloc(GT_TEXTS_MOST, sizeof *t->end);
    if (!t->bytes)
        t->bytes = malloc(GT_TEXTS_BYTES_MOST);
    if (!t->number && finds)
        t->number = calloc(2 * GT_TEXTS_MOST, sizeof *t->number);
    m->used = m->guess && t->end && t->bytes && (t->number || !finds);
    return m->used;
}

void gt_compact_value_model_clear(struct gt_compact_value_model *m)
{
    if (!m->used)
        return;
    m->used = false;
    memset(m->guess, 0, GT_MODEL_SIZE * sizeof *m->guess);
    m->texts.n = 0;
    if (m->texts.number)
        memset(m->texts.number, 0, 2 * GT_TEXTS_MOST * sizeof *m->texts.number);
}

void gt_compact_value_model_finish(struct gt_compact_value_model *m)
{
    free(m->guess);
    free(m->texts.end);
    free(m->texts.bytes);
    free(m->texts.number);
}
