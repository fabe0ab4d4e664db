/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records with payloads: see stream.h, and internal.h for the order of the stores. */
#include "base/stream/internal.h"

#include <string.h>

/* Words of the chunk's body, which the writer reads next: past the cache, as a line is moved. */
static void store_words(char *to, const uint64_t *words, size_t n)
{
#ifdef __x86_64__
    for (size_t i = 0; i < n; i++)
        _mm_stream_si64((long long *)(void *)to + i, (long long)words[i]);
#else
    memcpy(to, words, n * sizeof *words);
#endif
}

/* What the line holds goes to the body; returns `full` after it. As gt_stream_move_line(). */
static uint32_t empty_line(struct gt_stream *s)
{
    struct gt_chunk_state *state = s->state;
    uint64_t *line = (uint64_t *)(state + 1);
    uint32_t full = atomic_load_explicit(&state->full, memory_order_relaxed);
    uint32_t fill = atomic_load_explicit(&state->fill, memory_order_relaxed);
    if (!fill)
        return full;
    store_words((char *)line + GT_STREAM_LINE + full, line, fill / sizeof *line);
    full += fill;
    atomic_store_explicit(&state->full, full, memory_order_release);
    atomic_store_explicit(&state->fill, 0, memory_order_release);
    atomic_store_explicit(&state->base, full, memory_order_release);
    s->at = line;
    return full;
}

static bool has_room(const struct gt_stream *s, size_t size)
{
    uint32_t used = atomic_load_explicit(&s->state->full, memory_order_relaxed) +
                    atomic_load_explicit(&s->state->fill, memory_order_relaxed);
    return s->chunk && used + size + sizeof(uint64_t) <= s->body;
}

void gt_stream_put_more(struct gt_stream *s, uint64_t w0, uint64_t w1, const uint64_t *payload,
                        size_t n)
{
    const uint32_t more = (uint32_t)(n * sizeof *payload), size = GT_STREAM_RECORD + more;
    if (!has_room(s, size))
        gt_stream_next_chunk(s);
    if (!s->chunk) { /* out of memory: counted, and lost */
        gt_stream_put(s, w0, w1);
        return;
    }
    struct gt_chunk_state *state = s->state;
    char *body = (char *)(state + 1) + GT_STREAM_LINE;
    uint32_t full = empty_line(s);
    store_words(body + full, (const uint64_t[]){w0, w1}, 2);
    store_words(body + full + GT_STREAM_RECORD, payload, n);
    s->body -= sizeof(uint64_t);
    __atomic_store_n((uint64_t *)(void *)(body + s->body), gt_bound(full, more), __ATOMIC_RELEASE);
    uint32_t marks = atomic_load_explicit(&state->n_more, memory_order_relaxed);
    atomic_store_explicit(&state->n_more, marks + 1, memory_order_release);
    atomic_store_explicit(&state->full, full + size, memory_order_release);
    atomic_store_explicit(&state->base, full + size, memory_order_release);
    uint32_t all = atomic_load_explicit(&state->more, memory_order_relaxed);
    atomic_store_explicit(&state->more, all + more, memory_order_release);
}
