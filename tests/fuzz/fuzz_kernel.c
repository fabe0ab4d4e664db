/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels, symbol lists and modules that lie. Checks what guest/kernel/kernel.h promises of a file
 * that loads.
 */
#include "guest/kernel/kernel.h"
#include "guest/types/btf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static volatile unsigned sink; /* what can be read is read */

static void check_functions(const struct gt_kernel_symbol *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        require(s[i].size > 0 && s[i].addr + s[i].size > s[i].addr);
        require(s[i].name[0] && strlen(s[i].name) <= GT_KERNEL_NAME_MAX);
        require(i == 0 || s[i - 1].addr + s[i - 1].size <= s[i].addr);
    }
}

static void check_types(const struct gt_type_prototypes *p)
{
    for (uint32_t i = 0; i <= gt_types_count(p->types); i++) {
        const struct gt_type *t = gt_type_plain(p->types, i);
        const struct gt_type_member *m = gt_type_members(p->types, i);
        const struct gt_type_value *v = gt_type_values(p->types, i);
        const struct gt_type_param *q = gt_type_params(p->types, i);
        require(t->kind != GT_TYPE_TYPEDEF);
        for (uint32_t j = 0; j < gt_type_get(p->types, i)->n && (m || v || q); j++)
            sink += (unsigned)strlen(m ? m[j].name : v ? v[j].name : q[j].name);
        if (gt_type_is_finite(p->types, i))
            sink += (unsigned)gt_type_size(p->types, i);
    }
    for (size_t i = 0; i < p->n; i++) {
        require(gt_type_get(p->types, p->item[i].type)->kind == GT_TYPE_FUNCTION);
        require(gt_type_prototypes_named(p, p->item[i].name) != NULL);
    }
}

static void check_kernel(const struct gt_kernel *k)
{
    struct gt_type_prototypes *types;
    static const char *const members[] = {"comm", "pid", "thread.fsbase", "thread_info.flags.x"};
    uint64_t addr;
    uint32_t offset;

    require(k->n_sym > 0 && k->n_all > 0);
    check_functions(k->sym, k->n_sym);
    for (size_t i = 1; i < k->n_all; i++)
        require(k->all[i - 1].addr <= k->all[i].addr);
    for (size_t i = 0; i < k->n_module; i++) {
        require(k->module[i].n_sym > 0 && k->module[i].name[0]);
        check_functions(k->module[i].sym, k->module[i].n_sym);
    }
    for (size_t i = 0; i < k->n_sym && i < 64; i++) {
        const struct gt_kernel_symbol *s = &k->sym[i];
        const uint8_t *bytes = gt_kernel_bytes(k, s->addr, 16);
        require(gt_kernel_find(k, s->addr) == s && gt_kernel_find(k, s->addr + s->size - 1) == s);
        require(gt_kernel_address(k, s->name, &addr));
        if (bytes)
            sink += bytes[0] + bytes[15];
    }
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        gt_kernel_member(k, "task_struct", members[i], &offset);
    if (gt_type_btf_prototypes(k, &types, NULL) == GT_OK) {
        check_types(types);
        gt_type_prototypes_free(types);
    }
}

static void check_module(const struct gt_kernel_ko *m)
{
    for (size_t i = 0; i < m->n_section; i++)
        for (uint64_t at = 0; at < m->section[i].size; at++)
            sink += m->section[i].data[at];
    for (size_t i = 0; i < m->n_sym; i++) {
        const struct gt_kernel_ko_symbol *s = &m->sym[i];
        require(s->section < m->n_section && s->size > 0 && s->name[0]);
        require(s->offset < m->section[s->section].size);
        require(s->size <= m->section[s->section].size - s->offset);
    }
    require(m->name[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct gt_kernel *k;
    struct gt_kernel_ko *m;
    struct gt_error err;

    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (gt_kernel_load(path, &k, &err) == GT_OK) {
        check_kernel(k);
        gt_kernel_free(k);
    }
    if (gt_kernel_module_load(path, &m, &err) == GT_OK) {
        check_module(m);
        gt_kernel_module_free(m);
    }
    return 0;
}
