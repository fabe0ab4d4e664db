/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the kallsyms tables, their link address and their symbols: see kallsyms.h. */
#include "guest/kernel/kallsyms.h"

#include "guest/kernel/private.h"

#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* What symbol i is called, its type first, cut at size - 1 bytes; *at moves after its entry. */
static size_t expand(const struct gt_kernel_kallsyms *t, size_t *at, char *name, size_t size)
{
    size_t length = t->data[(*at)++], n = 0;

    if (length & 0x80)
        length = (length & 0x7f) | (size_t)t->data[(*at)++] << 7;
    for (; length > 0; length--) {
        size_t entry = t->token_index + 2 * (size_t)t->data[(*at)++];
        const char *token = (const char *)t->data + t->token_table +
                            (t->data[entry] | (size_t)t->data[entry + 1] << 8);
        size_t m = strlen(token); /* gt_kernel_kallsyms_find saw its end */
        if (m > size - 1 - n)
            m = size - 1 - n;
        memcpy(name + n, token, m);
        n += m;
    }
    name[n] = '\0';
    return n;
}

static uint64_t address_of(const struct gt_kernel_kallsyms *t, size_t i, uint64_t base)
{
    uint64_t v = gt_kernel_kallsyms_value(t, i);

    if (t->kind == GT_KALLSYMS_PERCPU)
        return v <= INT32_MAX ? v : base - 1 + (v - UINT32_MAX);
    if (t->kind == GT_KALLSYMS_PLACES)
        v -= GT_KALLSYMS_BIAS;
    return t->kind == GT_KALLSYMS_ADDRESSES ? v : base + v;
}

static int add_all(struct gt_kernel *k, const struct gt_kernel_kallsyms *t, uint64_t base)
{
    char name[GT_KERNEL_NAME_MAX + 2];
    uint64_t mask = t->word == 4 ? UINT32_MAX : UINT64_MAX;
    size_t at = t->names;
    int status = GT_OK;

    for (size_t i = 0; i < t->n && status == GT_OK; i++) {
        size_t n = expand(t, &at, name, sizeof name);
        struct gt_kernel_symbol s = {
            .addr = address_of(t, i, base) & mask, .name = name + 1, .type = name[0]};
        if (n > 1)
            status = gt_kernel_add(k, &s, n - 1);
    }
    return status;
}

static int add_tables(struct gt_kernel *k, const struct gt_kernel_kallsyms *t,
                      struct gt_kernel_segment *segment, struct gt_error *err)
{
    bool relative = t->kind == GT_KALLSYMS_OFFSETS || t->kind == GT_KALLSYMS_PERCPU;
    uint64_t base = relative ? gt_kernel_kallsyms_word(t->data, t->base, t->word)
                    : t->kind == GT_KALLSYMS_PLACES ? segment->addr
                                                    : 0;
    struct gt_kernel_kallsyms_link link;
    int status = add_all(k, t, base);

    if (status != GT_OK)
        return gt_error_set(err, status, "%s: kallsyms: %s", k->path, gt_error_status_text(status));
    link = gt_kernel_kallsyms_link(k, t, segment, base);
    for (size_t i = 0; i < k->n_all; i++)
        k->all[i].addr += link.base - base;
    segment->addr = link.start;
    return GT_OK;
}

int gt_kernel_kallsyms_read(struct gt_kernel *k, struct gt_error *err)
{
    struct gt_kernel_kallsyms t;
    uint32_t seen = 0;

    for (size_t i = 0; i < k->priv->n_segment; i++) {
        struct gt_kernel_segment *s = &k->priv->segment[i];
        if (gt_kernel_kallsyms_find(&t, s->data, s->size, k->bits / 8u))
            return add_tables(k, &t, s, err);
        seen = t.seen > seen ? t.seen : seen;
    }
    if (seen)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s: kallsyms in the %s has %u names, but addresses in no known form",
                            k->path, k->form, seen);
    return gt_error_set(err, GT_E_NOT_FOUND,
                        "%s: no kallsyms in the %s, expected a kernel with CONFIG_KALLSYMS",
                        k->path, k->form);
}

/* Finding the kallsyms tables in a kernel's data: see kallsyms.h. */

/* What a hostile image may make us do: places of digits looked at, symbols walked over. */
#define TRIES_MAX  4096
#define WALKED_MAX (64u << 20)

#define SYMBOLS_MAX (4u << 20)
#define SYMBOLS_MIN 32
#define INDEX_SIZE  512

uint32_t gt_kernel_kallsyms_u32(const uint8_t *data, size_t at)
{
    uint32_t v;

    memcpy(&v, data + at, sizeof v);
    return le32toh(v);
}

uint64_t gt_kernel_kallsyms_word(const uint8_t *data, size_t at, unsigned word)
{
    uint64_t v;

    if (word == 4)
        return gt_kernel_kallsyms_u32(data, at);
    memcpy(&v, data + at, sizeof v);
    return le64toh(v);
}

static unsigned index_at(const struct gt_kernel_kallsyms *t, size_t i)
{
    return t->data[t->token_index + 2 * i] | (unsigned)t->data[t->token_index + 2 * i + 1] << 8;
}

static size_t align(size_t at, unsigned to)
{
    return (at + to - 1) & ~(size_t)(to - 1);
}

/* token_index says where each token begins, which is after the 0 of the one before. */
static bool index_agrees(const struct gt_kernel_kallsyms *t)
{
    size_t room = t->token_end - t->token_table;

    if (index_at(t, 0) != 0)
        return false;
    for (size_t i = 0; i < 256; i++) {
        size_t from = index_at(t, i), to = i < 255 ? index_at(t, i + 1) : room;
        const uint8_t *text = t->data + t->token_table + from;
        if (from >= to || to > room || memchr(text, 0, to - from) != text + (to - from - 1))
            return false;
    }
    return true;
}

/* The digits' tokens begin at digits: walks to the end of the tokens, then back by token_index. */
static bool find_tokens(struct gt_kernel_kallsyms *t, size_t digits)
{
    size_t at = digits;

    for (int token = '0'; token < 256; token++) {
        size_t left = t->size - at < 512 ? t->size - at : 512;
        const uint8_t *end = left ? memchr(t->data + at, 0, left) : NULL;
        if (!end)
            return false;
        at = (size_t)(end - t->data) + 1;
    }
    t->token_end = at;
    t->token_index = align(at, t->align);
    if (t->token_index > t->size || t->size - t->token_index < INDEX_SIZE ||
        index_at(t, '0') > digits)
        return false;
    t->token_table = digits - index_at(t, '0');
    return index_agrees(t);
}

static bool is_type(char c)
{
    return c != '\0' && strchr("AaBbCcDdGgIiNnpPRrSsTtUuVvWw?-", c) != NULL;
}

/* One entry of names at *at, which moves after it; its first token in *token. */
static bool walk(const struct gt_kernel_kallsyms *t, size_t *at, size_t end, uint8_t *token)
{
    size_t length;

    if (end - *at < 2)
        return false;
    length = t->data[(*at)++];
    if (length & 0x80)
        length = (length & 0x7f) | (size_t)t->data[(*at)++] << 7;
    if (length == 0 || length > end - *at)
        return false;
    *token = t->data[*at];
    *at += length;
    return true;
}

static bool names_begin(const struct gt_kernel_kallsyms *t, size_t at, size_t end)
{
    uint8_t token;

    for (unsigned i = 0; i < SYMBOLS_MIN; i++)
        if (!walk(t, &at, end, &token) ||
            !is_type((char)t->data[t->token_table + index_at(t, token)]))
            return false;
    return true;
}

static bool markers_agree(const struct gt_kernel_kallsyms *t, size_t *budget)
{
    size_t at = t->names, end = t->token_table;
    uint8_t token;

    for (uint32_t i = 0; i < t->n; i++) {
        if (i % 256 == 0 && gt_kernel_kallsyms_word(t->data, t->markers + i / 256 * t->marker_size,
                                                    t->marker_size) != at - t->names)
            return false;
        if (*budget == 0 || !walk(t, &at, end, &token))
            return false;
        --*budget;
    }
    return true;
}

/* names at `at`, and markers, which begin after the last name, aligned. */
static bool names_behind(struct gt_kernel_kallsyms *t, size_t at, size_t *budget)
{
    size_t end = t->token_table, here = at;
    uint8_t token;

    t->num_syms = at - t->align;
    t->names = at;
    if (!names_begin(t, t->names, end))
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        if (*budget == 0 || !walk(t, &here, end, &token))
            return false;
        --*budget;
    }
    t->markers = align(here, t->align);
    for (t->marker_size = 4; t->marker_size <= t->word; t->marker_size += 4)
        if (t->markers <= end &&
            (end - t->markers) / t->marker_size >= ((size_t)t->n + 255) / 256 &&
            markers_agree(t, budget))
            return true;
    return false;
}

/* num_syms is looked for backwards from token_table; names take at least two bytes each. */
static bool find_names(struct gt_kernel_kallsyms *t, size_t *budget)
{
    size_t at = t->token_table & ~(size_t)(t->align - 1);

    for (; at >= t->align; at -= t->align) {
        uint64_t n = gt_kernel_kallsyms_word(t->data, at - t->align, t->align);
        if (n < SYMBOLS_MIN || n > SYMBOLS_MAX || n > (t->token_table - at) / 2)
            continue;
        t->n = (uint32_t)n;
        if (names_behind(t, at, budget))
            return true;
        if (*budget == 0)
            return false;
    }
    return false;
}

uint64_t gt_kernel_kallsyms_value(const struct gt_kernel_kallsyms *t, size_t i)
{
    uint32_t v;

    if (t->kind == GT_KALLSYMS_ADDRESSES)
        return gt_kernel_kallsyms_word(t->data, t->values + i * t->word, t->word);
    v = gt_kernel_kallsyms_u32(t->data, t->values + i * 4);
    if (t->kind == GT_KALLSYMS_OFFSETS)
        return v;
    if (t->kind == GT_KALLSYMS_PLACES)
        return GT_KALLSYMS_BIAS + t->values + i * 4 + (uint64_t)(int64_t)(int32_t)v;
    /* in the order of the addresses: relative ones above all others */
    return (int32_t)v >= 0 ? v : (uint64_t)UINT32_MAX + (uint64_t)(-(int64_t)(int32_t)v);
}

/* What each kind must contain: relative_base is the address of the lowest symbol that is relative.
 */
static bool is_anchor(const struct gt_kernel_kallsyms *t, size_t i, uint64_t v)
{
    switch (t->kind) {
    case GT_KALLSYMS_OFFSETS:
        return i == 0 && v == 0;
    case GT_KALLSYMS_PERCPU:
        return v == (uint64_t)UINT32_MAX + 1;
    case GT_KALLSYMS_PLACES:
        return i == 0 && v < GT_KALLSYMS_BIAS + t->values; /* code goes before data */
    default:                                               /* a kernel runs in the upper half */
        return i == t->n - 1 && v >> (8 * t->word - 1);
    }
}

/* Addresses ascend, and not in a few steps only. */
static bool is_table(const struct gt_kernel_kallsyms *t)
{
    uint64_t last = gt_kernel_kallsyms_value(t, 0);
    bool anchored = false;
    size_t steps = 0;

    for (size_t i = 0; i < t->n; i++) {
        uint64_t v = gt_kernel_kallsyms_value(t, i);
        if (v < last)
            return false;
        steps += v > last;
        anchored |= is_anchor(t, i, v);
        last = v;
    }
    return anchored && steps >= t->n / 4;
}

static bool try_values(struct gt_kernel_kallsyms *t, enum gt_kernel_kallsyms_kind kind, size_t at)
{
    size_t n = (size_t)t->n * (kind == GT_KALLSYMS_ADDRESSES ? t->word : 4);

    t->kind = kind;
    t->values = at;
    t->base = align(at + n, t->word);
    if (at <= t->size && n <= t->size - at &&
        (kind == GT_KALLSYMS_ADDRESSES || kind == GT_KALLSYMS_PLACES ||
         (t->base <= t->size && t->word <= t->size - t->base)) &&
        is_table(t))
        return true;
    return false;
}

static bool find_values(struct gt_kernel_kallsyms *t)
{
    size_t after = align(t->token_index + INDEX_SIZE, t->align);
    size_t offsets = align((size_t)t->n * 4, t->word) + t->word, words = (size_t)t->n * t->word;

    if (try_values(t, GT_KALLSYMS_OFFSETS, after) || try_values(t, GT_KALLSYMS_PERCPU, after) ||
        (t->word == 8 && try_values(t, GT_KALLSYMS_PLACES, after)) ||
        try_values(t, GT_KALLSYMS_ADDRESSES, after))
        return true;
    if (offsets <= t->num_syms && (try_values(t, GT_KALLSYMS_OFFSETS, t->num_syms - offsets) ||
                                   try_values(t, GT_KALLSYMS_PERCPU, t->num_syms - offsets)))
        return true;
    return words <= t->num_syms && try_values(t, GT_KALLSYMS_ADDRESSES, t->num_syms - words);
}

/* With the digits' tokens at digits; both ways of alignment can be right until the values are seen.
 */
static bool find_around(struct gt_kernel_kallsyms *t, size_t digits, size_t *budget)
{
    for (t->align = t->word; t->align >= 4; t->align -= 4) {
        if (!find_tokens(t, digits) || !find_names(t, budget))
            continue;
        t->seen = t->n;
        if (find_values(t))
            return true;
    }
    return false;
}

bool gt_kernel_kallsyms_find(struct gt_kernel_kallsyms *t, const uint8_t *data, size_t size,
                             unsigned word)
{
    static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009"; /* and its 0 */
    const uint8_t *at = data, *end = data + size;
    size_t budget = WALKED_MAX;

    memset(t, 0, sizeof *t);
    t->data = data;
    t->size = size;
    t->word = word;
    for (int i = 0; i < TRIES_MAX && budget; i++) {
        at = memmem(at, (size_t)(end - at), digits, sizeof digits);
        if (!at)
            break;
        if (find_around(t, (size_t)(at - data), &budget))
            return true;
        at++;
    }
    return false;
}

/*
 * Finds the link address of an image, and relative_base if it is 0 in the file.
 *
 * A relocatable arm64 or riscv64 kernel contains its relocations, of three words each: an address,
 * the type, and the value to be stored at the address. The linker may leave 0 at the address
 * itself, and relative_base is such a case. Its record has both results: the record's address minus
 * the offset of relative_base in the image is the start of the image, and its value is
 * relative_base. Other records could match by chance, but none of those gives a page-aligned start
 * below all addresses and values, with a relative_base shortly after it.
 *
 * An image without such records (not relocatable; or with packed ones, whose values are stored in
 * place) has its relative_base. Its start is the symbol of its first byte, or follows from the jump
 * in its header, whose target has a name.
 *
 * Tables without relative_base have no absolute address: then the start is that one, of those that
 * the header allows, for which the most pointers in the image point to a symbol.
 */

#define PAGE_MASK   0xfffull
#define NEAR        (4ull << 20) /* of the start: the lowest symbol */
#define KERNEL_HALF (1ull << 63)

struct record {
    uint64_t place, value;
};

/* The next relative relocation at or after *at, which moves after its type. */
static bool next_record(const struct gt_kernel_segment *s, uint64_t type, size_t *at,
                        struct record *r)
{
    for (; s->size >= 24 && *at <= s->size - 16; *at += 8) {
        if (gt_kernel_kallsyms_word(s->data, *at, 8) != type)
            continue;
        r->place = gt_kernel_kallsyms_word(s->data, *at - 8, 8);
        r->value = gt_kernel_kallsyms_word(s->data, *at + 8, 8);
        if ((r->place & KERNEL_HALF) && (r->value & KERNEL_HALF) && r->place % 8 == 0) {
            *at += 8;
            return true;
        }
    }
    return false;
}

static uint64_t relative_type(unsigned machine)
{
    return machine == EM_AARCH64 ? R_AARCH64_RELATIVE : machine == EM_RISCV ? R_RISCV_RELATIVE : 0;
}

/* The record of relative_base in a flat image. */
static bool find_record(const struct gt_kernel_segment *s, uint64_t type, uint64_t place,
                        uint64_t base, struct gt_kernel_kallsyms_link *link)
{
    uint64_t lowest = UINT64_MAX;
    struct record r;
    bool found = false;

    for (size_t at = 8; next_record(s, type, &at, &r);) {
        lowest = r.place < lowest ? r.place : lowest;
        lowest = r.value < lowest ? r.value : lowest;
    }
    for (size_t at = 8; next_record(s, type, &at, &r);) {
        uint64_t start = r.place - place;
        if ((start & PAGE_MASK) || start > lowest || r.value - start >= NEAR ||
            (base && r.value != base) || (found && start < link->start))
            continue;
        *link = (struct gt_kernel_kallsyms_link){start, r.value};
        found = true;
    }
    return found;
}

/* In an ELF file the place has an address. */
static uint64_t value_of(const struct gt_kernel *k, uint64_t type, uint64_t place)
{
    struct record r;

    for (size_t i = 0; i < k->priv->n_segment; i++)
        for (size_t at = 8; next_record(&k->priv->segment[i], type, &at, &r);)
            if (r.place == place)
                return r.value;
    return 0;
}

/* The offset in the image of the code that its header jumps to; 0: no jump. */
static uint64_t jump_target(const struct gt_kernel *k, const struct gt_kernel_segment *s)
{
    for (size_t at = 0; at <= 4 && s->size >= 8; at += k->e_machine == EM_RISCV ? 2 : 4) {
        uint32_t w = gt_kernel_kallsyms_u32(s->data, at);
        if (k->e_machine == EM_AARCH64 && w >> 26 == 5)
            return at + (uint64_t)((int64_t)((int32_t)(w << 6) >> 6) * 4);
        if (k->e_machine == EM_RISCV && (w & 0xfff) == 0x6f)
            return at + ((w >> 20 & 0x7fe) | (w >> 9 & 0x800) | (w & 0xff000));
    }
    return 0;
}

/* The address of the first byte by the symbols, which need not have their base. */
static uint64_t start_by_symbols(const struct gt_kernel *k, const struct gt_kernel_segment *s)
{
    static const char *const first[] = {"_start", "_text", "_head"};
    static const char *const entry[] = {"primary_entry", "stext", "_start_kernel"};
    uint64_t addr, target = jump_target(k, s);

    for (size_t i = k->e_machine == EM_RISCV ? 0 : 1; i < 3; i++)
        if (gt_kernel_address(k, first[i], &addr) && (addr & PAGE_MASK) == 0)
            return addr;
    for (size_t i = 0; i < 3 && target; i++)
        if (gt_kernel_address(k, entry[i], &addr))
            return addr - target;
    return k->n_all ? k->all[0].addr & ~PAGE_MASK : 0;
}

#define POINTERS 8192
#define BLOCK    (2ull << 20) /* to which starts are aligned, but for the header's text_offset */
#define BLOCKS   1024

static bool is_pointer(uint64_t w)
{
    return w >> 40 >= 0xffff80 && w < 0 - BLOCK;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* What may be pointers in the image, evenly over it, sorted; their number. */
static size_t sample(const struct gt_kernel_segment *s, uint64_t *out)
{
    size_t n = 0, all = 0, step;

    for (size_t at = 0; at + 8 <= s->size; at += 8)
        all += is_pointer(gt_kernel_kallsyms_word(s->data, at, 8));
    step = all / POINTERS + 1;
    all = 0;
    for (size_t at = 0; at + 8 <= s->size; at += 8) {
        uint64_t w = gt_kernel_kallsyms_word(s->data, at, 8);
        if (is_pointer(w) && all++ % step == 0 && n < POINTERS)
            out[n++] = w;
    }
    qsort(out, n, sizeof *out, by_value);
    return n;
}

/* How many of the pointers are addresses of symbols, which are sorted, when those are moved by
 * `by`. */
static size_t score(const struct gt_kernel *k, const uint64_t *pointer, size_t n, uint64_t by)
{
    size_t at = 0, hits = 0;

    for (size_t i = 0; i < n; i++) {
        if (pointer[i] < by)
            continue;
        while (at < k->n_all && k->all[at].addr < pointer[i] - by)
            at++;
        hits += at < k->n_all && k->all[at].addr == pointer[i] - by;
    }
    return hits;
}

/* The start of a flat image whose symbols are as if it began at first; 0: not to be known. */
static uint64_t start_by_pointers(const struct gt_kernel *k, const struct gt_kernel_segment *s,
                                  uint64_t first)
{
    uint64_t *pointer = malloc(POINTERS * sizeof *pointer), last = 0, found = 0;
    uint64_t offset = s->size >= 16 ? gt_kernel_kallsyms_word(s->data, 8, 8) % BLOCK : 0;
    size_t n = pointer ? sample(s, pointer) : 0, best = 15, tries = 0;

    for (size_t i = 0; i < n && tries < BLOCKS; i++) {
        uint64_t start = (pointer[i] & ~(BLOCK - 1)) + offset;
        size_t hits;
        if (start == last)
            continue;
        last = start;
        tries++;
        hits = score(k, pointer, n, start - first);
        if (hits > best) {
            best = hits;
            found = start;
        }
    }
    free(pointer);
    return found;
}

struct gt_kernel_kallsyms_link gt_kernel_kallsyms_link(const struct gt_kernel *k,
                                                       const struct gt_kernel_kallsyms *t,
                                                       const struct gt_kernel_segment *s,
                                                       uint64_t base)
{
    struct gt_kernel_kallsyms_link link = {s->addr, base};
    uint64_t type = relative_type(k->e_machine), first;

    if (!k->priv->flat) {
        if (base == 0 && type && t->kind == GT_KALLSYMS_OFFSETS)
            link.base = value_of(k, type, s->addr + t->base);
        return link;
    }
    if (t->kind == GT_KALLSYMS_OFFSETS && type && find_record(s, type, t->base, base, &link))
        return link;
    first = start_by_symbols(k, s);
    if (base)
        return (struct gt_kernel_kallsyms_link){first, base};
    link.start = start_by_pointers(k, s, t->kind == GT_KALLSYMS_PLACES ? 0 : first);
    link.base = link.start - (t->kind == GT_KALLSYMS_PLACES ? 0 : first);
    return link;
}
