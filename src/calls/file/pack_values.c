/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packing values of calls: see values.h. */
#include "calls/file/pack.h"

#include <string.h>

/* Room for all values of a record. */
static bool reserve(struct gt_compact_packer *p, const struct gt_value_list *list)
{
    size_t bytes = 0;
    for (size_t i = 0; i < list->n; i++)
        bytes += gt_compact_value_is_bytes(&list->value[i]) ? list->value[i].size : 0;
    return gt_compact_column_reserve(&p->column[GT_COLUMN_CODES], list->n) &&
           gt_compact_column_reserve(&p->column[GT_COLUMN_VALUES], list->n * GT_NUMBER_MAX) &&
           gt_compact_column_reserve(&p->column[GT_COLUMN_BYTES], bytes);
}

static void put_code(struct gt_compact_packer *p, enum gt_compact_value_code code)
{
    struct gt_compact_column_out *c = &p->column[GT_COLUMN_CODES];
    c->data[c->n++] = (uint8_t)code;
}

static void put_word(struct gt_compact_packer *p, struct gt_compact_value_guess *g, uint64_t word)
{
    if (word == g->last) {
        put_code(p, GT_VALUE_AS_LAST);
    } else if (word == g->before) {
        put_code(p, GT_VALUE_AS_BEFORE);
    } else if (word - g->last == g->last - g->before) {
        put_code(p, GT_VALUE_AS_STEP);
    } else {
        put_code(p, GT_VALUE_AS_SAID);
        gt_compact_column_put(&p->column[GT_COLUMN_VALUES],
                              gt_compact_zigzag((int64_t)(word - g->last)));
    }
    gt_compact_value_learn(g, word);
}

static void put_text(struct gt_compact_packer *p, struct gt_compact_value_guess *g,
                     const void *bytes, size_t size)
{
    struct gt_compact_texts_seen *texts = &p->values.texts;
    struct gt_compact_column_out *to = &p->column[GT_COLUMN_BYTES];
    uint32_t number = gt_compact_texts_find(texts, bytes, size);
    if (number && number == g->text) {
        put_code(p, GT_TEXT_AS_LAST);
        return;
    }
    put_code(p, number ? GT_TEXT_AS_NUMBER : GT_TEXT_AS_SAID);
    gt_compact_column_put(&p->column[GT_COLUMN_VALUES], number ? number : size);
    if (!number && size) {
        memcpy(to->data + to->n, bytes, size);
        to->n += size;
    }
    g->text = number ? number : gt_compact_texts_add(texts, bytes, size);
}

static int put_values(struct gt_compact_packer *p, uint32_t key, const struct gt_value_list *list)
{
    if (!reserve(p, list))
        return GT_E_NOMEM;
    for (size_t i = 0; i < list->n; i++) {
        const struct gt_value *v = &list->value[i];
        struct gt_compact_value_guess *g = gt_compact_value_guess_of(&p->values, key, i);
        if (gt_compact_value_is_word(v))
            put_word(p, g, v->word);
        else if (gt_compact_value_is_bytes(v))
            put_text(p, g, v->bytes, v->size);
    }
    return 0;
}

static bool is_good(const struct gt_value_list *list)
{
    bool good = list->n <= GT_VALUES_MOST;
    for (size_t i = 0; i < list->n && good; i++)
        good = list->value[i].kind <= GT_VALUE_BAD_ADDRESS &&
               list->value[i].size <= GT_COMPACT_MAX_VALUE;
    return good;
}

int gt_compact_packer_put_valued(struct gt_compact_packer *p, uint32_t task,
                                 const struct gt_compact_record *r,
                                 const struct gt_value_list *list)
{
    struct gt_compact_packer_task *t;
    if (!is_good(list))
        return GT_E_USAGE;
    if (p->head.records == GT_COMPACT_MAX_RECORDS)
        return GT_E_RANGE;
    if (!gt_compact_value_model_begin(&p->values, true))
        return GT_E_NOMEM;
    int status = gt_compact_packer_begin_valued(p, task, r, &t);
    if (status < 0)
        return status;
    const struct gt_compact_model_frame *top = &t->frame[t->depth];
    uint32_t key = gt_compact_values_key(top->last == 0, top->last ? top->last : top->number);
    const struct gt_compact_record layout = {r->time, gt_compact_values_layout(list)};
    status = gt_compact_packer_put_layout(p, t, &layout);
    return status < 0 ? status : put_values(p, key, list);
}

/* ---- as streams have them ------------------------------------------------------------------ */

enum { MORE = 1 << 2 }; /* of a record's word: its values follow */

/* A record and its values; *at is then after them. */
static int put_one(struct gt_compact_packer *p, uint32_t task, const uint64_t *words, size_t n,
                   size_t *at)
{
    const struct gt_compact_record r = {words[*at], words[*at + 1] & ~(uint64_t)MORE};
    struct gt_value_list list;
    size_t used = gt_values_get_words(words + *at + 2, n - *at - 2, &list);
    if (used == 0)
        return GT_E_USAGE;
    *at += 2 + used;
    return gt_compact_packer_put_valued(p, task, &r, &list);
}

int gt_compact_packer_put_words(struct gt_compact_packer *p, uint32_t task, const uint64_t *words,
                                size_t n)
{
    int status = n / 2 > GT_COMPACT_MAX_RECORDS - p->head.records ? GT_E_RANGE : 0;
    for (size_t at = 0; at + 2 <= n && status == 0;) {
        size_t begin = at;
        while (at + 2 <= n && !(words[at + 1] & MORE))
            at += 2;
        if (at > begin)
            status = gt_compact_packer_put(
                p, task, (const struct gt_compact_record *)(words + begin), (at - begin) / 2);
        if (status == 0 && at + 2 <= n)
            status = put_one(p, task, words, n, &at);
    }
    return status;
}
