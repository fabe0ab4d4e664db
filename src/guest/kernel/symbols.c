/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the functions among all symbols of a kernel.
 *
 * Symbols of one address keep the order of the kernel's table. A symbol that is not a function (a
 * symbol of the linker script, a table in the code) ends the function before it.
 */
#include "guest/kernel/private.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64u << 10)

struct gt_kernel_name_chunk {
    struct gt_kernel_name_chunk *next;
    char text[CHUNK];
};

char *gt_kernel_names_add(struct gt_kernel_names *names, const char *text, size_t n)
{
    char *at;

    if (n > GT_KERNEL_NAME_MAX)
        n = GT_KERNEL_NAME_MAX;
    if (!names->chunk || CHUNK - names->used < n + 1) {
        struct gt_kernel_name_chunk *chunk = malloc(sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = names->chunk;
        names->chunk = chunk;
        names->used = 0;
    }
    at = names->chunk->text + names->used;
    for (size_t i = 0; i < n; i++)
        at[i] = (unsigned char)text[i] <= ' ' || text[i] == 0x7f ? '?' : text[i];
    at[n] = '\0';
    names->used += n + 1;
    return at;
}

void gt_kernel_names_free(struct gt_kernel_names *names)
{
    while (names->chunk) {
        struct gt_kernel_name_chunk *next = names->chunk->next;
        free(names->chunk);
        names->chunk = next;
    }
}

int gt_kernel_add(struct gt_kernel *k, const struct gt_kernel_symbol *symbol, size_t name_size)
{
    char *name;

    if (k->n_all == GT_KERNEL_SYMBOLS_MAX)
        return GT_E_RANGE;
    if (!GT_ARRAY_GROW(&k->all, &k->priv->all_cap, k->n_all + 1))
        return GT_E_NOMEM;
    name = gt_kernel_names_add(&k->priv->names, symbol->name, name_size);
    if (!name)
        return GT_E_NOMEM;
    k->all[k->n_all] = *symbol;
    k->all[k->n_all++].name = name;
    return GT_OK;
}

/* Merge sort: the order among equal addresses stays. */
static void merge(struct gt_kernel_symbol *s, size_t half, size_t n, struct gt_kernel_symbol *spare)
{
    size_t a = 0, b = half, to = 0;

    memcpy(spare, s, half * sizeof *s);
    while (a < half && b < n)
        s[to++] = s[b].addr < spare[a].addr ? s[b++] : spare[a++];
    memcpy(s + to, spare + a, (half - a) * sizeof *s);
}

static bool is_sorted(const struct gt_kernel_symbol *s, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (s[i].addr < s[i - 1].addr)
            return false;
    return true;
}

bool gt_kernel_sort(struct gt_kernel_symbol *s, size_t n)
{
    struct gt_kernel_symbol *spare;

    if (is_sorted(s, n))
        return true;
    spare = malloc(n * sizeof *s);
    if (!spare)
        return false;
    for (size_t run = 1; run < n; run *= 2)
        for (size_t at = 0; n - at > run; at += n - at < 2 * run ? n - at : 2 * run)
            merge(s + at, run, n - at < 2 * run ? n - at : 2 * run, spare);
    free(spare);
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* Marks that linker scripts put into the code; __pi_ is put before the names of arm64's early code.
 */
static bool is_mark(const char *name)
{
    static const char *const marks[] = {
        "_text",
        "_stext",
        "_etext",
        "_head",
        "_start",
        "_end",
        "_sinittext",
        "_einittext",
        "_sextratext",
        "_eextratext",
        "__init_begin",
        "__init_end",
        "__inittext_begin",
        "__inittext_end",
        "__exittext_end",
        "__exittext_begin",
        "__bss_start",
        "efi_header_end",
    };

    if (!strncmp(name, "__pi_", 5))
        name += 5;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (!strcmp(name, marks[i]))
            return true;
    return !strncmp(name, "__", 2) &&
           (ends_with(name, "text_start") || ends_with(name, "text_end") ||
            ends_with(name, "text_begin"));
}

static bool is_code(const struct gt_kernel_symbol *s, const struct gt_kernel *ranges)
{
    if (s->addr == UINT64_MAX)
        return false;
    if (s->type == 'T' || s->type == 't')
        return true;
    /* nm says so of every weak symbol that is not an object */
    return (s->type == 'W' || s->type == 'w') &&
           ((s->addr >= ranges->text_lo && s->addr < ranges->text_hi) ||
            (s->addr >= ranges->init_lo && s->addr < ranges->init_hi));
}

/* Symbols that say nothing of where a function ends. */
static bool is_inner(const char *name)
{
    return name[0] == '$' || name[0] == '.';
}

static bool is_function(const struct gt_kernel_symbol *s, const struct gt_kernel *ranges)
{
    return is_code(s, ranges) && !is_mark(s->name) && strncmp(s->name, "__pfx_", 6) != 0 &&
           strncmp(s->name, "__cfi_", 6) != 0;
}

/* Names that every module gives to one of its functions besides its own. */
static bool is_common(const char *name)
{
    return !strcmp(name, "init_module") || !strcmp(name, "cleanup_module");
}

static unsigned rank_of(const struct gt_kernel_symbol *s)
{
    unsigned n = (unsigned)strspn(s->name, "_");

    if (is_common(s->name))
        return 3u << 16;
    return (s->type == 'T' ? 0 : s->type == 't' ? 2u << 16 : 1u << 16) | (n & 0xff);
}

static bool is_better(const struct gt_kernel_symbol *a, const struct gt_kernel_symbol *b)
{
    unsigned ra = rank_of(a), rb = rank_of(b);
    size_t la = strlen(a->name), lb = strlen(b->name);

    if (ra != rb)
        return ra < rb;
    return la != lb ? la < lb : strcmp(a->name, b->name) < 0;
}

/* Where the range that the address lies in ends; without one, nowhere. */
static uint64_t range_end(const struct gt_kernel *k, uint64_t addr)
{
    if (addr >= k->text_lo && addr < k->text_hi)
        return k->text_hi;
    if (addr >= k->init_lo && addr < k->init_hi)
        return k->init_hi;
    return UINT64_MAX;
}

/* A function of unknown end without a symbol after it. */
#define LAST_SIZE 16

/* The next symbol is at next; size 0 is unknown. */
static void set_size(struct gt_kernel_symbol *f, uint64_t next, const struct gt_kernel *ranges)
{
    uint64_t end = range_end(ranges, f->addr);

    if (next < end)
        end = next;
    if (f->size == 0 && end == UINT64_MAX && f->addr < UINT64_MAX - LAST_SIZE)
        f->size = LAST_SIZE;
    if (f->size == 0 || f->size > end - f->addr)
        f->size = end - f->addr;
}

/* Of the symbols of one address: the function, NULL: none of them is one. */
static const struct gt_kernel_symbol *best_of(const struct gt_kernel_symbol *s, size_t n,
                                              const struct gt_kernel *ranges, bool *ends)
{
    const struct gt_kernel_symbol *best = NULL;

    *ends = false;
    for (; n > 0; s++, n--) {
        if (is_inner(s->name))
            continue;
        *ends = true;
        if (is_function(s, ranges) && (!best || is_better(s, best)))
            best = s;
    }
    return best;
}

static uint64_t largest(const struct gt_kernel_symbol *s, size_t n)
{
    uint64_t size = 0;

    for (size_t i = 0; i < n; i++)
        if (s[i].size > size)
            size = s[i].size;
    return size;
}

size_t gt_kernel_choose(struct gt_kernel_symbol *sym, size_t n, const struct gt_kernel *ranges)
{
    struct gt_kernel_symbol *open = NULL; /* the last function, whose end is not known yet */
    size_t kept = 0;

    for (size_t i = 0, next; i < n; i = next) {
        uint64_t addr = sym[i].addr, size;
        bool ends;
        for (next = i + 1; next < n && sym[next].addr == addr; next++)
            ;
        const struct gt_kernel_symbol *best = best_of(sym + i, next - i, ranges, &ends);
        size = largest(sym + i, next - i);
        /* labels inside a function that says its size */
        if (!ends || (open && !size && addr - open->addr < open->size))
            continue;
        if (open)
            set_size(open, addr, ranges);
        open = NULL;
        if (best) {
            sym[kept] = *best;
            open = &sym[kept++];
            open->size = size;
        }
    }
    if (open)
        set_size(open, UINT64_MAX, ranges);
    return kept;
}

static bool range_of(const struct gt_kernel *k, const char *from, const char *to, uint64_t *lo,
                     uint64_t *hi)
{
    if (gt_kernel_address(k, from, lo) && gt_kernel_address(k, to, hi) && *lo < *hi)
        return true;
    *lo = *hi = 0;
    return false;
}

int gt_kernel_finish(struct gt_kernel *k, struct gt_error *err)
{
    bool has_text;

    if (k->n_all == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no symbols in the %s", k->path, k->form);
    if (!gt_kernel_sort(k->all, k->n_all))
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", k->path);
    has_text = range_of(k, "_stext", "_etext", &k->text_lo, &k->text_hi);
    range_of(k, "_sinittext", "_einittext", &k->init_lo, &k->init_hi);
    k->sym = malloc(k->n_all * sizeof *k->sym);
    if (!k->sym)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", k->path);
    memcpy(k->sym, k->all, k->n_all * sizeof *k->sym);
    k->n_sym = gt_kernel_choose(k->sym, k->n_all, k);
    if (k->n_sym == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no functions among %zu symbols", k->path,
                            k->n_all);
    k->load_lo = k->priv->flat ? k->priv->segment[0].addr : 0;
    if (!k->load_lo && !gt_kernel_address(k, "_text", &k->load_lo))
        k->load_lo = k->text_lo;
    if (!has_text) {
        k->text_lo = k->sym[0].addr;
        k->text_hi = k->sym[k->n_sym - 1].addr + k->sym[k->n_sym - 1].size;
    }
    return GT_OK;
}

/* Lookups in a kernel: bytes by address, addresses by name. */

void gt_kernel_add_form(struct gt_kernel *k, const char *form)
{
    size_t n = strlen(k->form);

    snprintf(k->form + n, sizeof k->form - n, "%s%s", n ? ", " : "", form);
}

bool gt_kernel_address(const struct gt_kernel *k, const char *name, uint64_t *addr)
{
    for (size_t i = 0; i < k->n_all; i++)
        if (!strcmp(k->all[i].name, name)) {
            *addr = k->all[i].addr;
            return true;
        }
    return false;
}

const uint8_t *gt_kernel_bytes(const struct gt_kernel *k, uint64_t addr, size_t n)
{
    for (size_t i = 0; i < k->priv->n_segment; i++) {
        const struct gt_kernel_segment *s = &k->priv->segment[i];
        if (addr >= s->addr && addr - s->addr < s->size)
            return n <= s->size - (size_t)(addr - s->addr) ? s->data + (addr - s->addr) : NULL;
    }
    return NULL;
}
