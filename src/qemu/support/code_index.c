/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of a code map by their bytes: see code_index.h. */
#include "qemu/support/code_index.h"
#include "base/page.h"
#include "base/search.h"

enum { FILTER = 1 << 20 };

static void index_hashes(struct gt_code_index *x)
{
    x->by_hash = g_hash_table_new(g_int64_hash, g_int64_equal);
    x->filter = g_new0(uint64_t, FILTER / 64);
    for (size_t i = 0; i < x->map->n_functions; i++) {
        uint64_t *hash = &x->map->function[i].hash;
        if (!x->map->function[i].hashed)
            continue;
        g_hash_table_insert(x->by_hash, hash, (void *)(i + 1));
        x->filter[*hash % FILTER / 64] |= UINT64_C(1) << *hash % 64;
    }
}

static void index_patterns(struct gt_code_index *x)
{
    x->in_page = g_new0(size_t, GT_PAGE);
    x->next_in_page = g_new0(size_t, x->map->n_functions + 1);
    for (size_t i = x->map->n_functions; i-- > 0;) {
        size_t *first = &x->in_page[x->map->function[i].addr % GT_PAGE];
        if (!x->map->function[i].pattern)
            continue;
        x->next_in_page[i] = *first;
        *first = i + 1;
    }
}

void gt_code_index_init(struct gt_code_index *x, const struct gt_code_map *map)
{
    *x = (struct gt_code_index){.map = map};
    index_hashes(x);
    index_patterns(x);
}

void gt_code_index_free(struct gt_code_index *x)
{
    g_hash_table_destroy(x->by_hash);
    g_free(x->filter);
    g_free(x->in_page);
    g_free(x->next_in_page);
}

size_t gt_code_index_by_hash(const struct gt_code_index *x, const uint8_t *bytes)
{
    uint64_t hash = gt_code_hash(bytes);
    bool may_be = x->filter[hash % FILTER / 64] >> hash % 64 & 1;
    return may_be ? (size_t)g_hash_table_lookup(x->by_hash, &hash) : 0;
}

/* How many bytes of the pattern are there; negative: one differs. */
static int matches(const struct gt_code_pattern *p, const uint8_t *bytes, size_t left)
{
    int same = 0;
    for (size_t i = 0; i < p->n && i < left; i++) {
        if (!gt_code_pattern_knows(p, i))
            continue;
        if (p->byte[i] != bytes[i])
            return -1;
        same++;
    }
    return same;
}

size_t gt_code_index_by_pattern(const struct gt_code_index *x, uint64_t pc,
                                const struct gt_code_page *bytes, unsigned *same)
{
    size_t function = 0;
    int most = 0;
    for (size_t i = x->in_page[pc % GT_PAGE]; i; i = x->next_in_page[i - 1]) {
        int n = matches(x->map->function[i - 1].pattern, bytes->at, bytes->left);
        if (n <= 0 || n < most)
            continue;
        function = n > most ? i : 0;
        most = n;
    }
    *same = (unsigned)most;
    return function;
}

struct gt_code_presence gt_code_index_compare(const struct gt_code_index *x,
                                              const struct gt_code_module *module, uint64_t offset,
                                              uint64_t pc, const struct gt_code_page *bytes)
{
    struct gt_code_presence found = {0};
    const struct gt_code_function *f = &x->map->function[module->first];
    const uint8_t *page = bytes->at - bytes->before;
    uint64_t first = pc - bytes->before - offset, size = bytes->before + bytes->left;
    for (size_t i = GT_SEARCH_BELOW(f, module->n, addr, first); i < module->n; i++) {
        uint64_t at = f[i].addr - first;
        if (at >= size)
            break;
        int n = f[i].pattern ? matches(f[i].pattern, page + at, (size_t)(size - at)) : 0;
        found.there += n >= (int)GT_CODE_INDEX_ENOUGH;
        found.different += n < 0;
    }
    return found;
}
