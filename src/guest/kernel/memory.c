/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lookups in a kernel: bytes by address, addresses by name. */
#include "guest/kernel/private.h"

#include <stdio.h>
#include <string.h>

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
