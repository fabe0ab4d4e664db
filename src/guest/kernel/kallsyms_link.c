/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#include "guest/kernel/kallsyms.h"

#include "guest/kernel/private.h"

#include <elf.h>

#include <stdlib.h>

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
        if (gt_kallsyms_word(s->data, *at, 8) != type)
            continue;
        r->place = gt_kallsyms_word(s->data, *at - 8, 8);
        r->value = gt_kallsyms_word(s->data, *at + 8, 8);
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
                        uint64_t base, struct gt_kallsyms_link *link)
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
        *link = (struct gt_kallsyms_link){start, r.value};
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
        uint32_t w = gt_kallsyms_u32(s->data, at);
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
        all += is_pointer(gt_kallsyms_word(s->data, at, 8));
    step = all / POINTERS + 1;
    all = 0;
    for (size_t at = 0; at + 8 <= s->size; at += 8) {
        uint64_t w = gt_kallsyms_word(s->data, at, 8);
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
    uint64_t offset = s->size >= 16 ? gt_kallsyms_word(s->data, 8, 8) % BLOCK : 0;
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

struct gt_kallsyms_link gt_kallsyms_link(const struct gt_kernel *k, const struct gt_kallsyms *t,
                                         const struct gt_kernel_segment *s, uint64_t base)
{
    struct gt_kallsyms_link link = {s->addr, base};
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
        return (struct gt_kallsyms_link){first, base};
    link.start = start_by_pointers(k, s, t->kind == GT_KALLSYMS_PLACES ? 0 : first);
    link.base = link.start - (t->kind == GT_KALLSYMS_PLACES ? 0 : first);
    return link;
}
