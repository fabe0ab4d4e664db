/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: values of calls, the same on both sides. docs/formats/compact.md has the
 * format to the byte.
 *
 * A record with values is a piece of its own, in which a *layout* follows the record: an odd word
 * that says how many values there are and of which kinds. The table of predictions has it as any
 * other record, so it costs nothing where a function's values are of the same kinds each time. Each
 * value is predicted by the values that the same function had in the same place before.
 */
#ifndef GT_CALLS_FILE_VALUES_H
#define GT_CALLS_FILE_VALUES_H

#include "calls/file/model.h"
#include "recording/values/payload.h"

#include <stdbool.h>

enum {
    GT_TEXTS_MOST = 1 << 16,       /* texts of a segment that have numbers */
    GT_TEXTS_BYTES_MOST = 4 << 20, /* and their bytes: later ones have none */
};

/* What a value's code says: of a word, and of bytes. */
enum gt_compact_value_code {
    GT_VALUE_AS_LAST = 0, /* as in the call before */
    GT_VALUE_AS_BEFORE,   /* as in the call before that */
    GT_VALUE_AS_STEP,     /* as far from the last one as that was from the one before */
    GT_VALUE_AS_SAID,     /* its difference to the last one is said */

    GT_TEXT_AS_LAST = 0,
    GT_TEXT_AS_NUMBER, /* a text that has come in the segment: its number is said */
    GT_TEXT_AS_SAID,   /* its size and bytes are said; it gets the next number, where one is left */
};

/* How a value is predicted. */
struct gt_compact_value_guess {
    uint64_t last, before;
    uint32_t text; /* number of the last text, from 1; 0: none, or it had no number */
};

/* Texts of a segment, by number from 1 on. */
struct gt_compact_texts_seen {
    uint32_t *end; /* of each, in bytes; end[0] is 0 */
    uint32_t n;
    uint8_t *bytes;
    uint32_t *number; /* packer: by hash, open addressing, 2 * GT_TEXTS_MOST; 0: free */
};

struct gt_compact_value_model {
    struct gt_compact_value_guess *guess; /* GT_MODEL_SIZE; NULL: no values have come */
    struct gt_compact_texts_seen texts;
    bool used; /* in this segment */
};

/* Makes it ready for the segment's first value. `finds`: texts are looked for. False: no memory. */
bool gt_compact_value_model_begin(struct gt_compact_value_model *m, bool finds);
/* A new segment. */
void gt_compact_value_model_clear(struct gt_compact_value_model *m);
void gt_compact_value_model_finish(struct gt_compact_value_model *m);

/* Adds a text where there is room: its number; 0: there is none. */
uint32_t gt_compact_texts_add(struct gt_compact_texts_seen *t, const void *bytes, size_t size);
/* A text by its number, which is one. */
const uint8_t *gt_compact_texts_at(const struct gt_compact_texts_seen *t, uint32_t number,
                                   size_t *size);
/* The text's number; 0: it has none. */
uint32_t gt_compact_texts_find(const struct gt_compact_texts_seen *t, const void *bytes,
                               size_t size);

/* What a record's values are expected by: of what the record is, as gt_compact_model_note() has
 * it. */
static inline uint32_t gt_compact_values_key(bool entry, uint32_t what)
{
    return 2 * what + !entry;
}

static inline struct gt_compact_value_guess *
gt_compact_value_guess_of(const struct gt_compact_value_model *m, uint32_t key, size_t i)
{
    return &m->guess[gt_compact_model_mix(key, i, 1)];
}

/* A word that was coded. */
static inline void gt_compact_value_learn(struct gt_compact_value_guess *g, uint64_t word)
{
    g->before = g->last;
    g->last = word;
}

/* The layout of values; and the other way, into kinds alone: false: the word is not a layout. */
uint64_t gt_compact_values_layout(const struct gt_value_list *list);
bool gt_compact_values_of_layout(uint64_t word, struct gt_value_list *out);

static inline bool gt_compact_value_is_word(const struct gt_value *v)
{
    return v->kind == GT_VALUE_WORD || v->kind == GT_VALUE_BAD_ADDRESS;
}

static inline bool gt_compact_value_is_bytes(const struct gt_value *v)
{
    return v->kind == GT_VALUE_BYTES || v->kind == GT_VALUE_CUT;
}

#endif
