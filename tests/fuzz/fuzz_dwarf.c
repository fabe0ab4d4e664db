/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF that lies, and C declarations: prototypes that end, whose values have places or reasons. */
#include "guest/abi/abi.h"
#include "guest/types/declarations.h"
#include "guest/types/dwarf.h"

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

static void check_value(const struct gt_abi_value *v)
{
    require(v->n <= GT_ABI_PIECES && (!v->unknown || v->unknown[0]));
    for (unsigned i = 0; !v->unknown && i < v->n; i++)
        require(v->piece[i].size > 0 && (v->piece[i].reg || v->piece[i].stack >= 0));
}

static void check(const struct gt_type_prototypes *p)
{
    const struct gt_abi *abi;

    for (size_t i = 0; i < p->n; i++) {
        uint32_t n = gt_type_get(p->types, p->item[i].type)->n;
        struct gt_abi_value result, *param = calloc(n + 1, sizeof *param);
        require(param && gt_type_prototypes_named(p, p->item[i].name));
        for (size_t j = 0; (abi = gt_abi_at(j)); j++) {
            gt_abi_place_prototype(abi, p, &p->item[i], &result, param);
            check_value(&result);
            for (uint32_t k = 0; k < n; k++)
                check_value(&param[k]);
        }
        free(param);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const roots[] = {NULL};
    static int fd = -1;
    struct gt_type_prototypes *p;
    char path[64];

    p = gt_type_prototypes_new(NULL);
    if (p) {
        gt_type_declarations_read(p, gt_type_data_model_of("aarch64"), "fuzz", (const char *)data,
                                  size, NULL);
        if (gt_type_prototypes_finish(p) == GT_OK)
            check(p);
        gt_type_prototypes_free(p);
    }
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (gt_type_dwarf_prototypes(path, roots, &p, NULL) == GT_OK) {
        check(p);
        gt_type_prototypes_free(p);
    }
    return 0;
}
