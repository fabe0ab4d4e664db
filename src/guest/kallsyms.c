/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of the kallsyms tables, and the link address of a flat image.
 *
 * A relocatable kernel keeps relative_base as a relocation to be made (R_AARCH64_RELATIVE,
 * R_RISCV_RELATIVE: r_offset, r_info, r_addend of 8 bytes each) and zero in its place. The record
 * is found by what it must say: that relative_base's own place, as far behind the image's start as
 * the tables are found, is to hold the address of the lowest symbol.
 */
#include "guest/kallsyms.h"

#include "guest/kernel_private.h"

#include <elf.h>
#include <string.h>

/* What symbol i is called, its type first, cut at size - 1 bytes; *at moves behind its entry. */
static size_t expand(const struct gt_kallsyms *t, size_t *at, char *name, size_t size)
{
    size_t length = t->data[(*at)++], n = 0;

    if (length & 0x80)
        length = (length & 0x7f) | (size_t)t->data[(*at)++] << 7;
    for (; length > 0; length--) {
        size_t entry = t->token_index + 2 * (size_t)t->data[(*at)++];
        const char *token = (const char *)t->data + t->token_table +
                            (t->data[entry] | (size_t)t->data[entry + 1] << 8);
        size_t m = strlen(token); /* gt_kallsyms_find saw its end */
        if (m > size - 1 - n)
            m = size - 1 - n;
        memcpy(name + n, token, m);
        n += m;
    }
    name[n] = '\0';
    return n;
}

static uint64_t address_of(const struct gt_kallsyms *t, size_t i, uint64_t base)
{
    uint64_t v = gt_kallsyms_value(t, i);

    if (t->kind == GT_KALLSYMS_PERCPU)
        return v <= INT32_MAX ? v : base - 1 + (v - UINT32_MAX);
    return t->kind == GT_KALLSYMS_ADDRESSES ? v : base + v;
}

static int add_all(struct gt_kernel *k, const struct gt_kallsyms *t, uint64_t base)
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

/* The symbol of the image's first byte. */
static uint64_t start_of(const struct gt_kernel *k)
{
    uint64_t addr;

    if (k->e_machine == EM_RISCV && gt_kernel_address(k, "_start", &addr))
        return addr;
    if (gt_kernel_address(k, "_text", &addr) || gt_kernel_address(k, "_head", &addr))
        return addr;
    return k->n_all ? k->all[0].addr : 0;
}

static uint64_t relative_type(unsigned machine)
{
    return machine == EM_AARCH64 ? R_AARCH64_RELATIVE : machine == EM_RISCV ? R_RISCV_RELATIVE : 0;
}

/* What the relocation of the word at offset `place` from the image's start puts there, where the
 * start is `start` bytes from that value; the least of those whose start is a page. 0: none. */
static uint64_t find_relocation(const struct gt_kernel *k, uint64_t place, uint64_t start)
{
    uint64_t type = relative_type(k->e_machine), found = 0;

    for (size_t i = 0; type && i < k->priv->n_segment; i++) {
        const uint8_t *data = k->priv->segment[i].data;
        for (size_t at = 8; k->priv->segment[i].size >= 24 && at <= k->priv->segment[i].size - 16;
             at += 8) {
            if (gt_kallsyms_word(data, at, 8) != type)
                continue;
            uint64_t offset = gt_kallsyms_word(data, at - 8, 8);
            uint64_t addend = gt_kallsyms_word(data, at + 8, 8);
            if (offset - (addend + start) == place && ((addend + start) & 0xfff) == 0 &&
                (!found || addend < found))
                found = addend;
        }
    }
    return found;
}

static void move_all(struct gt_kernel *k, uint64_t by)
{
    for (size_t i = 0; i < k->n_all; i++)
        k->all[i].addr += by;
}

static int add_tables(struct gt_kernel *k, const struct gt_kallsyms *t, uint64_t segment,
                      struct gt_error *err)
{
    bool relative = t->kind == GT_KALLSYMS_OFFSETS || t->kind == GT_KALLSYMS_PERCPU;
    uint64_t base = relative ? gt_kallsyms_word(t->data, t->base, t->word) : 0, start;
    int status = add_all(k, t, t->kind == GT_KALLSYMS_PLACES ? segment : base);

    if (status != GT_OK)
        return gt_error_set(err, status, "%s: kallsyms: %s", k->path, gt_status_text(status));
    start = start_of(k);
    if (t->kind == GT_KALLSYMS_OFFSETS && base == 0)
        move_all(k, find_relocation(k, t->base, start));
    start = start_of(k);
    if (k->priv->flat)
        k->priv->segment[0].addr = start;
    return GT_OK;
}

int gt_kallsyms_read(struct gt_kernel *k, struct gt_error *err)
{
    struct gt_kallsyms t;

    for (size_t i = 0; i < k->priv->n_segment; i++) {
        const struct gt_kernel_segment *s = &k->priv->segment[i];
        if (!gt_kallsyms_find(&t, s->data, s->size, k->bits / 8u))
            continue;
        if (t.kind == GT_KALLSYMS_NONE)
            return gt_error_set(err, GT_E_UNSUPPORTED,
                                "%s: %u symbols in kallsyms at offset %zu, but no addresses in an "
                                "order that is known",
                                k->path, t.n, t.num_syms);
        return add_tables(k, &t, s->addr, err);
    }
    return gt_error_set(err, GT_E_NOT_FOUND,
                        "%s: no kallsyms in the %s, expected a kernel built "
                        "with CONFIG_KALLSYMS",
                        k->path, k->form);
}
