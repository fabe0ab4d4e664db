/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of the kallsyms tables. */
#include "guest/kernel/kallsyms.h"

#include "guest/kernel/private.h"

#include <string.h>

/* What symbol i is called, its type first, cut at size - 1 bytes; *at moves after its entry. */
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
    if (t->kind == GT_KALLSYMS_PLACES)
        v -= GT_KALLSYMS_BIAS;
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

static int add_tables(struct gt_kernel *k, const struct gt_kallsyms *t,
                      struct gt_kernel_segment *segment, struct gt_error *err)
{
    bool relative = t->kind == GT_KALLSYMS_OFFSETS || t->kind == GT_KALLSYMS_PERCPU;
    uint64_t base = relative                        ? gt_kallsyms_word(t->data, t->base, t->word)
                    : t->kind == GT_KALLSYMS_PLACES ? segment->addr
                                                    : 0;
    struct gt_kallsyms_link link;
    int status = add_all(k, t, base);

    if (status != GT_OK)
        return gt_error_set(err, status, "%s: kallsyms: %s", k->path, gt_status_text(status));
    link = gt_kallsyms_link(k, t, segment, base);
    for (size_t i = 0; i < k->n_all; i++)
        k->all[i].addr += link.base - base;
    segment->addr = link.start;
    return GT_OK;
}

int gt_kallsyms_read(struct gt_kernel *k, struct gt_error *err)
{
    struct gt_kallsyms t;
    uint32_t seen = 0;

    for (size_t i = 0; i < k->priv->n_segment; i++) {
        struct gt_kernel_segment *s = &k->priv->segment[i];
        if (gt_kallsyms_find(&t, s->data, s->size, k->bits / 8u))
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
