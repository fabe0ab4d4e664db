/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacking values of calls: see values.h. */
#include "calls/file/unpack.h"

/* What a record's values are expected by. */
static uint32_t key_of(const struct gt_compact_event *e)
{
    switch (e->sym & 3) {
    case GT_COMPACT_ENTRY:
        return gt_compact_values_key(true, e->sym >> 2);
    case GT_COMPACT_EXIT:
        return gt_compact_values_key(false, e->sym >> 2);
    default:
        return gt_compact_values_key(false, e->sym);
    }
}

static int take_word(struct gt_compact_unpacker *u, struct gt_compact_value_guess *g, unsigned code,
                     struct gt_value *v)
{
    switch (code) {
    case GT_VALUE_AS_LAST:
        v->word = g->last;
        break;
    case GT_VALUE_AS_BEFORE:
        v->word = g->before;
        break;
    case GT_VALUE_AS_STEP:
        v->word = g->last + (g->last - g->before);
        break;
    case GT_VALUE_AS_SAID:
        v->word =
            g->last + (uint64_t)gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_VALUES));
        break;
    default:
        return GT_E_FORMAT;
    }
    gt_compact_value_learn(g, v->word);
    return 0;
}

static int take_new_text(struct gt_compact_unpacker *u, struct gt_compact_value_guess *g,
                         struct gt_value *v)
{
    struct gt_compact_column_in *in = &u->columns.in[GT_COLUMN_BYTES];
    uint64_t size = gt_compact_unpacker_take(u, GT_COLUMN_VALUES);
    if (size > GT_COMPACT_MAX_VALUE || size > (size_t)(in->end - in->at))
        return GT_E_FORMAT;
    v->bytes = in->at;
    v->size = (uint16_t)size;
    in->at += size;
    g->text = gt_compact_texts_add(&u->values.texts, v->bytes, v->size);
    return 0;
}

static int take_text(struct gt_compact_unpacker *u, struct gt_compact_value_guess *g, unsigned code,
                     struct gt_value *v)
{
    const struct gt_compact_texts_seen *texts = &u->values.texts;
    uint64_t number = g->text;
    size_t size;
    if (code == GT_TEXT_AS_SAID)
        return take_new_text(u, g, v);
    if (code == GT_TEXT_AS_NUMBER)
        number = gt_compact_unpacker_take(u, GT_COLUMN_VALUES);
    if (code > GT_TEXT_AS_SAID || number == 0 || number > texts->n)
        return GT_E_FORMAT;
    v->bytes = gt_compact_texts_at(texts, (uint32_t)number, &size);
    v->size = (uint16_t)size;
    g->text = (uint32_t)number;
    return 0;
}

int gt_compact_unpacker_take_values(struct gt_compact_unpacker *u,
                                    const struct gt_compact_event event[2],
                                    struct gt_value_list *list)
{
    uint32_t key = key_of(&event[0]);
    int status = 0;
    if ((event[1].sym & 3) != GT_COMPACT_OTHER ||
        !gt_compact_values_of_layout(gt_compact_unpacker_word(u, event[1].sym >> 2), list))
        return GT_E_FORMAT;
    if (!gt_compact_value_model_begin(&u->values, false))
        return GT_E_NOMEM;
    for (size_t i = 0; i < list->n && status == 0; i++) {
        struct gt_value *v = &list->value[i];
        struct gt_compact_value_guess *g = gt_compact_value_guess_of(&u->values, key, i);
        if (v->kind == GT_VALUE_ABSENT)
            continue;
        unsigned code = gt_compact_column_take_byte(&u->columns.in[GT_COLUMN_CODES]);
        status = gt_compact_value_is_word(v) ? take_word(u, g, code, v) : take_text(u, g, code, v);
    }
    return status;
}
