/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An unpacker's life, its segments, words and tasks: see unpack.h. */
#include "calls/file/unpack.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORDS_ROOM = 4096,
    MOST_WORDS = 1 << 29,
    TASKS_ROOM = 64,
    KEPT_STACKS = 1 << 20, /* room of all stacks that is kept for the next segment */
    /* Of those that a segment may need: room is at most twice the open calls, and never less than
     * GT_MODEL_ROOM. */
    MOST_STACKS = 2 * GT_PACKER_OPEN + GT_MODEL_ROOM * GT_COMPACT_MAX_TASKS,
};

/* ---- life ---------------------------------------------------------------------------------- */

static void free_stacks(struct gt_compact_unpacker *u)
{
    for (uint32_t i = 0; i < u->tasks_room; i++) {
        free(u->task[i].frame);
        u->task[i].frame = NULL;
        u->task[i].room = 0;
    }
    u->stacks = 0;
}

int gt_compact_unpacker_create(struct gt_compact_unpacker **out)
{
    struct gt_compact_unpacker *u = calloc(1, sizeof *u);
    *out = u;
    if (!u)
        return GT_E_NOMEM;
    u->first = calloc(GT_MODEL_SIZE, sizeof *u->first);
    u->second = calloc(GT_MODEL_SIZE, sizeof *u->second);
    u->event = calloc(GT_UNPACKER_EVENTS, sizeof *u->event);
    u->open = calloc(GT_MODEL_ROOM, sizeof *u->open);
    u->open_room = GT_MODEL_ROOM;
    u->word = calloc(WORDS_ROOM, sizeof *u->word);
    u->words_room = WORDS_ROOM;
    gt_compact_clock_init(&u->levels);
    u->columns.zstd = ZSTD_createDCtx();
    if (!u->first || !u->second || !u->event || !u->open || !u->word || !u->columns.zstd) {
        gt_compact_unpacker_destroy(u);
        *out = NULL;
        return GT_E_NOMEM;
    }
    return 0;
}

void gt_compact_unpacker_destroy(struct gt_compact_unpacker *u)
{
    if (!u)
        return;
    free_stacks(u);
    gt_compact_columns_finish(&u->columns);
    gt_compact_value_model_finish(&u->values);
    free(u->first);
    free(u->second);
    free(u->task);
    free(u->word);
    free(u->event);
    free(u->open);
    free(u);
}

void gt_compact_unpacker_begin_segment(struct gt_compact_unpacker *u)
{
    memset(u->first, 0, GT_MODEL_SIZE * sizeof *u->first);
    memset(u->second, 0, GT_MODEL_SIZE * sizeof *u->second);
    gt_compact_value_model_clear(&u->values);
    u->n_tasks = 0;
    if (u->stacks > KEPT_STACKS)
        free_stacks(u);
    u->n_words = 1;
    u->last_word = 0;
    u->begun = true;
}

/* ---- words and tasks ----------------------------------------------------------------------- */

int gt_compact_unpacker_take_word(struct gt_compact_unpacker *u, uint64_t number, uint32_t *out)
{
    *out = (uint32_t)number;
    if (number > 0)
        return number < u->n_words ? 0 : GT_E_FORMAT;
    if (u->n_words == u->words_room) {
        size_t room = 2 * (size_t)u->words_room;
        uint64_t *word = room <= MOST_WORDS ? realloc(u->word, room * sizeof *word) : NULL;
        if (!word)
            return GT_E_NOMEM;
        u->word = word;
        u->words_room = (uint32_t)room;
    }
    u->last_word += (uint64_t)gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_WORDS));
    *out = u->n_words;
    u->word[u->n_words++] = u->last_word;
    return 0;
}

/* Room for one more task. */
static bool grow_tasks(struct gt_compact_unpacker *u)
{
    if (u->n_tasks < u->tasks_room)
        return true;
    uint32_t room = u->tasks_room ? 2 * u->tasks_room : TASKS_ROOM;
    struct gt_compact_unpacker_task *task = realloc(u->task, room * sizeof *task);
    if (!task)
        return false;
    memset(task + u->tasks_room, 0, (room - u->tasks_room) * sizeof *task);
    u->task = task;
    u->tasks_room = room;
    return true;
}

int gt_compact_unpacker_grow_stack(struct gt_compact_unpacker *u,
                                   struct gt_compact_unpacker_task *t, size_t depth)
{
    size_t room = t->room ? t->room : GT_MODEL_ROOM;
    if (depth > GT_PACKER_DEPTH)
        return GT_E_FORMAT;
    while (room < depth)
        room *= 2;
    if (room == t->room)
        return 0;
    if (room - t->room > MOST_STACKS - u->stacks)
        return GT_E_FORMAT;
    struct gt_compact_model_frame *frame = realloc(t->frame, (room + 1) * sizeof *frame);
    if (!frame)
        return GT_E_NOMEM;
    t->frame = frame;
    u->stacks += room - t->room;
    t->room = (uint32_t)room;
    return 0;
}

/* Each has a byte or more in two columns: no memory is taken for a count that is made up. */
static bool has_frames(const struct gt_compact_unpacker *u, uint64_t depth)
{
    const struct gt_compact_column_in *tasks = &u->columns.in[GT_COLUMN_TASKS];
    const struct gt_compact_column_in *syms = &u->columns.in[GT_COLUMN_SYMS];
    return depth <= (size_t)(tasks->end - tasks->at) && depth <= (size_t)(syms->end - syms->at);
}

int gt_compact_unpacker_open_task(struct gt_compact_unpacker *u)
{
    uint64_t id = gt_compact_unpacker_take(u, GT_COLUMN_TASKS),
             time = gt_compact_unpacker_take(u, GT_COLUMN_TASKS);
    uint64_t depth = gt_compact_unpacker_take(u, GT_COLUMN_TASKS);
    if (id > UINT32_MAX || !has_frames(u, depth) || u->n_tasks == GT_COMPACT_MAX_TASKS)
        return GT_E_FORMAT;
    if (!grow_tasks(u))
        return GT_E_NOMEM;
    int status = gt_compact_unpacker_grow_stack(u, &u->task[u->n_tasks], depth);
    if (status < 0)
        return status;
    struct gt_compact_unpacker_task *t = &u->task[u->n_tasks++];
    struct gt_compact_model_frame *frame = t->frame;
    t->id = (uint32_t)id;
    t->depth = (uint32_t)depth;
    t->time = time;
    frame[0] = (struct gt_compact_model_frame){.begin = time};
    for (size_t i = 1; i <= depth; i++) {
        uint32_t number;
        status =
            gt_compact_unpacker_take_word(u, gt_compact_unpacker_take(u, GT_COLUMN_SYMS), &number);
        if (status < 0)
            return status;
        int64_t step = gt_compact_unzigzag(gt_compact_unpacker_take(u, GT_COLUMN_TASKS));
        gt_compact_model_enter(&frame[i - 1], number, frame[i - 1].begin + (uint64_t)step);
    }
    return 0;
}

uint64_t gt_compact_unpacker_word(const struct gt_compact_unpacker *u, uint32_t number)
{
    return number < u->n_words ? u->word[number] : 0;
}

bool gt_compact_unpacker_is_event(const struct gt_compact_unpacker *u,
                                  const struct gt_compact_event *e, uint64_t id)
{
    const uint64_t word = gt_compact_unpacker_word(u, e->sym >> 2);
    const uint64_t depth = GT_UFTRACE_DEPTH_MASK << 6;
    switch (e->sym & 3) {
    case GT_COMPACT_EVENT:
        return word == id;
    case GT_COMPACT_OTHER:
        return (word & ~depth) == (gt_uftrace_event(0, id) & ~depth);
    default:
        return false;
    }
}

uint32_t gt_compact_unpacker_words(const struct gt_compact_unpacker *u)
{
    return u->n_words;
}

uint32_t gt_compact_unpacker_tasks(const struct gt_compact_unpacker *u)
{
    return u->n_tasks;
}

uint32_t gt_compact_unpacker_task(const struct gt_compact_unpacker *u, uint32_t index)
{
    return u->task[index].id;
}

const struct gt_compact_frame *gt_compact_unpacker_frames(struct gt_compact_unpacker *u,
                                                          uint32_t index, uint32_t *depth,
                                                          uint64_t *time)
{
    const struct gt_compact_unpacker_task *t = &u->task[index];
    *depth = t->depth;
    *time = t->time;
    if (t->room > u->open_room) {
        struct gt_compact_frame *open = realloc(u->open, t->room * sizeof *open);
        if (!open)
            return NULL;
        u->open = open;
        u->open_room = t->room;
    }
    for (uint32_t i = 0; i < t->depth; i++)
        u->open[i] = (struct gt_compact_frame){t->frame[i + 1].begin, t->frame[i + 1].number};
    return u->open;
}
