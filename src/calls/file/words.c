/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words and their numbers: see words.h. */
#include "calls/file/words.h"

#include "calls/file/model.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096, MOST = 1 << 29 };

bool gt_compact_words_init(struct gt_compact_words *w)
{
    *w = (struct gt_compact_words){.room = FIRST_ROOM, .n = 1};
    w->word = calloc(w->room, sizeof *w->word);
    w->number = calloc(2 * (size_t)w->room, sizeof *w->number);
    return w->word && w->number;
}

void gt_compact_words_finish(struct gt_compact_words *w)
{
    free(w->word);
    free(w->number);
}

void gt_compact_words_clear(struct gt_compact_words *w)
{
    memset(w->number, 0, 2 * (size_t)w->room * sizeof *w->number);
    w->n = 1;
    w->last = 0;
}

static uint32_t *slot_of(struct gt_compact_words *w, uint64_t value, unsigned class)
{
    uint32_t mask = 2 * w->room - 1, i = (gt_compact_words_hash(value) + class) & mask;
    for (; w->number[i]; i = (i + 1) & mask) {
        const struct gt_compact_word *word = &w->word[w->number[i]];
        if (word->value == value && word->class == class)
            break;
    }
    return &w->number[i];
}

static bool grow(struct gt_compact_words *w)
{
    uint32_t room = 2 * w->room;
    struct gt_compact_word *word = room <= MOST ? realloc(w->word, room * sizeof *word) : NULL;
    if (!word)
        return false;
    w->word = word;
    uint32_t *number = calloc(2 * (size_t)room, sizeof *number);
    if (!number)
        return false;
    free(w->number);
    w->number = number;
    w->room = room;
    for (uint32_t i = 1; i < w->n; i++)
        *slot_of(w, word[i].value, word[i].class) = i;
    return true;
}

uint32_t gt_compact_words_number(struct gt_compact_words *w, uint64_t value, unsigned class,
                                 struct gt_compact_column_out *column, bool *is_new)
{
    uint32_t *slot = slot_of(w, value, class);
    *is_new = *slot == 0;
    if (*slot)
        return *slot;
    if (w->n == w->room) {
        if (!grow(w))
            return 0;
        slot = slot_of(w, value, class);
    }
    w->word[w->n] = (struct gt_compact_word){value, class};
    gt_compact_column_put(column, gt_compact_zigzag((int64_t)(value - w->last)));
    w->last = value;
    return *slot = w->n++;
}
