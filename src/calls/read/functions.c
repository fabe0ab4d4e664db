/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of a recording: see functions.h. */
#include "calls/read/functions.h"

void gt_calls_functions_finish(struct gt_calls_functions *f)
{
    for (int i = 0; i < GT_FUNCTIONS_CHUNKS; i++)
        free(f->chunk[i]);
    gt_calls_pairs_clear(&f->index);
}

/* Which chunk has it, and where in there. Chunk k has FIRST << k entries, those before it as many
 * less FIRST. */
static unsigned chunk_of(uint32_t index, uint32_t *at)
{
    uint64_t from = (uint64_t)index + GT_FUNCTIONS_FIRST;
    unsigned chunk = 63 - (unsigned)__builtin_clzll(from / GT_FUNCTIONS_FIRST);
    *at = (uint32_t)(from - ((uint64_t)GT_FUNCTIONS_FIRST << chunk));
    return chunk;
}

uint32_t gt_calls_functions_add(struct gt_calls_functions *f, uint32_t module, uint64_t address,
                                struct gt_calls_function **added)
{
    uint32_t at, index = gt_calls_pairs_get(&f->index, module, address);
    *added = NULL;
    if (index != GT_PAIRS_NONE)
        return index;
    unsigned chunk = chunk_of(f->n, &at);
    if (chunk >= GT_FUNCTIONS_CHUNKS)
        return GT_PAIRS_NONE;
    if (!f->chunk[chunk]) {
        struct gt_calls_function *more =
            calloc((size_t)GT_FUNCTIONS_FIRST << chunk, sizeof **f->chunk);
        if (!more)
            return GT_PAIRS_NONE;
        f->chunk[chunk] = more;
    }
    if (!gt_calls_pairs_put(&f->index, module, address, f->n))
        return GT_PAIRS_NONE;
    *added = &f->chunk[chunk][at];
    return f->n;
}

void gt_calls_functions_publish(struct gt_calls_functions *f)
{
    __atomic_store_n(&f->n, f->n + 1, __ATOMIC_RELEASE);
}

size_t gt_calls_functions_count(const struct gt_calls_functions *f)
{
    return __atomic_load_n(&f->n, __ATOMIC_ACQUIRE);
}

const struct gt_calls_function *gt_calls_functions_at(const struct gt_calls_functions *f,
                                                      uint32_t index)
{
    uint32_t at;
    unsigned chunk = chunk_of(index, &at);
    return &f->chunk[chunk][at];
}
