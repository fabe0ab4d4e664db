/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the load offset of code: see load_offset.h. */
#include "names/placement/load_offset.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MASK GT_UFTRACE_ADDR_MASK
/* Pairs that are looked at; of more entries every second, third... is taken. */
#define PAIRS_MAX 2000000u
/* Candidates that are counted exactly. */
#define CANDIDATES 16
/* Functions begin at multiples of this, mostly: what chance is given. */
#define ALIGN 16
/* Fewer are not evidence, however thin functions are sown: there are many files and processes. */
#define LEAST 4
/* Programs that are linked alike have so many functions in common: what begins and ends them. */
#define FEW 8
/* Of jumps' targets, functions are at least one in so many; of calls' targets, one in two. */
#define OF_JUMPS 32
/* Addresses have so many bits. */
#define ADDR_BITS 48
/* Chance finds so many such places at most, as a power of ten. */
#define CHANCE_MAX (-3.0)

struct candidate {
    uint64_t offset;
    size_t score;
};

struct search {
    const struct gt_place_entries *entries;
    const struct gt_image_source_part *part;
    const struct gt_place_load_offset_order *order;
    uint64_t *difference; /* entries minus functions: offsets; then as much room again, to sort */
    size_t n_differences;
    struct candidate candidate[CANDIDATES];
    size_t n_candidates;
};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Rotated so that the low bits, in which an entry and its function agree, come first. */
static uint64_t turn(uint64_t addr, uint64_t step)
{
    const int bits = __builtin_ctzll(step);
    return (addr & (step - 1)) << (ADDR_BITS - bits) | (addr & MASK) >> bits;
}

static uint64_t turn_back(uint64_t key, uint64_t step)
{
    const int bits = __builtin_ctzll(step);
    return (key << bits & MASK) | key >> (ADDR_BITS - bits);
}

/* Keys with the same first bits lie in a row. */
enum { ROW_BITS = 12, ROWS = 1 << ROW_BITS };

struct gt_place_load_offset_order {
    size_t row[ROWS + 1]; /* where each begins */
    uint64_t key[];       /* sorted */
};

static size_t row_of(uint64_t key)
{
    return (size_t)(key >> (ADDR_BITS - ROW_BITS));
}

/* The functions that agree with the entry are key[first..last]. */
static void find_row(const struct search *s, uint64_t entry, size_t *first, size_t *last)
{
    const uint64_t step = s->part->step, low = turn(entry & (step - 1), step);
    const struct gt_place_load_offset_order *o = s->order;
    *first = o->row[row_of(low)];
    *last = o->row[row_of(low) + 1];
    if (__builtin_ctzll(step) <= ROW_BITS)
        return;
    const uint64_t top = low | (MASK >> __builtin_ctzll(step));
    while (*first < *last && o->key[*first] < low)
        ++*first;
    while (*first < *last && o->key[*last - 1] > top)
        --*last;
}

/* A file score in many processes: all but the bits in which offsets differ are left out. */
static void sort_differences(struct search *s)
{
    enum { DIGIT = 256 };
    uint64_t *from = s->difference, *to = s->difference + s->n_differences;
    for (int shift = __builtin_ctzll(s->part->step); shift < ADDR_BITS; shift += 8) {
        size_t at[DIGIT] = {0}, sum = 0;
        for (size_t i = 0; i < s->n_differences; i++)
            at[from[i] >> shift & (DIGIT - 1)]++;
        for (size_t d = 0; d < DIGIT; d++) {
            size_t here = at[d];
            at[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < s->n_differences; i++)
            to[at[from[i] >> shift & (DIGIT - 1)]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != s->difference)
        memcpy(s->difference, from, s->n_differences * sizeof *from);
}

static int list_differences(struct search *s, struct gt_error *err)
{
    size_t pairs = 0, first, last, stride;
    for (size_t i = 0; i < s->entries->n; i++) {
        find_row(s, s->entries->addr[i], &first, &last);
        pairs += last - first;
    }
    stride = pairs / PAIRS_MAX + 1;
    size_t room = MIN(pairs, 2 * (size_t)PAIRS_MAX);
    s->difference = calloc(2 * room + 1, sizeof *s->difference);
    if (!s->difference)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", s->part->path);
    for (size_t i = 0; i < s->entries->n; i += stride) {
        find_row(s, s->entries->addr[i], &first, &last);
        for (size_t k = first; k < last && s->n_differences < room; k++)
            s->difference[s->n_differences++] =
                (s->entries->addr[i] - turn_back(s->order->key[k], s->part->step)) & MASK;
    }
    sort_differences(s);
    return 0;
}

/* Keeps the best, sorted. */
static void add_candidate(struct search *s, uint64_t offset, size_t score)
{
    size_t at = s->n_candidates;
    while (at > 0 && s->candidate[at - 1].score < score)
        at--;
    if (at == CANDIDATES)
        return;
    if (s->n_candidates < CANDIDATES)
        s->n_candidates++;
    memmove(&s->candidate[at + 1], &s->candidate[at],
            (s->n_candidates - at - 1) * sizeof *s->candidate);
    s->candidate[at] = (struct candidate){offset, score};
}

static void score_differences(struct search *s)
{
    for (size_t i = 0, next; i < s->n_differences; i = next) {
        for (next = i + 1; next < s->n_differences && s->difference[next] == s->difference[i];
             next++)
            ;
        add_candidate(s, s->difference[i], next - i);
    }
}

void gt_place_load_offset_score(const struct gt_place_entries *entries,
                                const struct gt_image_source_part *part, uint64_t offset,
                                struct gt_place_load_offset *out)
{
    const uint64_t start = (part->lo + offset) & MASK, end = start + (part->hi - part->lo);
    size_t f = 0;
    *out = (struct gt_place_load_offset){.offset = offset & MASK};
    for (size_t i = gt_place_entries_at(entries, start); i < entries->n && entries->addr[i] < end;
         i++) {
        const uint64_t addr = part->lo + (entries->addr[i] - start);
        out->seen++;
        while (f < part->n && part->function[f].addr < addr)
            f++;
        if (f == part->n || part->function[f].addr != addr)
            continue;
        out->first = out->hits++ ? out->first : addr;
        out->latest = addr;
    }
}

static double log10_choose(size_t n, size_t k)
{
    return (lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1)) / log(10);
}

/* How many such places chance would find, as a power of ten: one hit is there by construction, the
 * other entries in the range meet a function as often as any address does. */
static double chance(const struct search *s, const struct gt_place_load_offset *v)
{
    double code = 1;
    for (size_t i = 0; i < s->part->n; i++)
        code += (double)s->part->function[i].size;
    double one = fmin((double)s->part->n * ALIGN / code, 0.5);
    return log10((double)s->n_differences) + log10_choose(v->seen - 1, v->hits - 1) +
           (double)(v->hits - 1) * log10(one);
}

static bool across(const struct search *s, uint64_t a, uint64_t b)
{
    uint64_t apart = (a - b) & MASK, size = s->part->hi - s->part->lo;
    return apart < size || ((b - a) & MASK) < size;
}

/* Of those that the code confirms the best one: 1; 0: it confirms none; -1: it has no say. */
static int confirm(const struct search *s, const struct gt_place_load_offset *v,
                   const struct gt_place_load_offset **best)
{
    if (!s->entries->confirm || s->n_candidates == 0)
        return -1;
    *best = NULL;
    for (size_t i = 0; i < s->n_candidates; i++) {
        if (!v[i].hits || (*best && v[i].hits <= (*best)->hits))
            continue;
        int said = s->entries->confirm(s->entries->self, s->part, v[i].offset);
        if (said < 0)
            return -1;
        if (said)
            *best = &v[i];
    }
    return *best != NULL;
}

static int choose(const struct search *s, struct gt_place_load_offset *out, struct gt_error *err)
{
    struct gt_place_load_offset v[CANDIDATES];
    const struct gt_place_load_offset *best = NULL, *rival = NULL, *confirmed;
    for (size_t i = 0; i < s->n_candidates; i++) {
        gt_place_load_offset_score(s->entries, s->part, s->candidate[i].offset, &v[i]);
        if (v[i].hits && (!best || v[i].hits > best->hits))
            best = &v[i];
    }
    for (size_t i = 0; best && i < s->n_candidates; i++)
        if (&v[i] != best && across(s, v[i].offset, best->offset) &&
            (!rival || v[i].hits > rival->hits))
            rival = &v[i];
    const char *path = s->part->path;
    const int said = confirm(s, v, &confirmed);
    if (said > 0) {
        *out = *confirmed;
        return 0;
    }
    if (said == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "no clear place for %s: no code like it ran",
                            path);
    if (!best)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "no clear place for %s: none of its functions was entered", path);
    if (rival && rival->hits * 2 > best->hits)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "no clear place for %s: %zu functions at offset 0x%" PRIx64
                            ", %zu at 0x%" PRIx64,
                            path, best->hits, best->offset, rival->hits, rival->offset);
    if (best->hits * (s->entries->jumps ? OF_JUMPS : 2) < best->seen ||
        chance(s, best) > CHANCE_MAX)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "no clear place for %s: at the best, offset 0x%" PRIx64
                            ", it explains %zu of %zu calls",
                            path, best->offset, best->hits, best->seen);
    *out = *best;
    out->chance = chance(s, best);
    return 0;
}

bool gt_place_load_offset_check(const struct gt_place_entries *entries,
                                const struct gt_image_source_part *part, uint64_t offset,
                                struct gt_place_load_offset *out)
{
    gt_place_load_offset_score(entries, part, offset, out);
    if (out->hits < LEAST ||
        (out->hits * 2 < out->seen && (out->hits < FEW || out->hits * 4 < out->seen)))
        return false;
    double one = fmin((double)part->n * ALIGN / (double)(part->hi - part->lo), 0.5);
    out->chance = log10_choose(out->seen, out->hits) + (double)out->hits * log10(one);
    return out->chance <= CHANCE_MAX;
}

struct gt_place_load_offset_order *
gt_place_load_offset_order(const struct gt_image_source_part *part)
{
    struct gt_place_load_offset_order *o = malloc(sizeof *o + part->n * sizeof o->key[0]);
    if (!o)
        return NULL;
    for (size_t i = 0; i < part->n; i++)
        o->key[i] = turn(part->function[i].addr, part->step);
    qsort(o->key, part->n, sizeof o->key[0], compare);
    for (size_t row = 0, i = 0; row <= ROWS; row++) {
        while (i < part->n && row_of(o->key[i]) < row)
            i++;
        o->row[row] = i;
    }
    return o;
}

int gt_place_load_offset_find(const struct gt_place_entries *entries,
                              const struct gt_image_source_part *part,
                              struct gt_place_load_offset *out, struct gt_error *err)
{
    struct gt_place_load_offset_order *own = part->order ? NULL : gt_place_load_offset_order(part);
    struct search s = {.entries = entries, .part = part, .order = own ? own : part->order};
    if (!s.order)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", part->path);
    int status = list_differences(&s, err);
    if (status == 0) {
        score_differences(&s);
        status = choose(&s, out, err);
    }
    free(own);
    free(s.difference);
    return status;
}
