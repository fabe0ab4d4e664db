/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints where the parameters and results of a file's functions are:
 *
 *   function ADDR NAME
 *   result VALUE
 *   param VALUE        (each)
 *
 * VALUE is `?WHY`, or SIZE FLAGS and pieces REGISTER+BYTE:IN_VALUE:SIZE or @STACK:IN_VALUE:SIZE;
 * FLAGS is `-` or letters: r by reference, e address at entry, x in x87's 80 bits.
 */
#include "guest/abi/abi.h"
#include "guest/types/dwarf.h"

#include <stdio.h>
#include <stdlib.h>

static void show(const char *what, const struct gt_abi_value *v)
{
    if (v->unknown) {
        printf("%s ?%s\n", what, v->unknown);
        return;
    }
    printf("%s %u %s%s%s%s", what, v->size, v->by_reference ? "r" : "", v->at_entry ? "e" : "",
           v->extended ? "x" : "", v->by_reference || v->extended ? "" : "-");
    for (unsigned i = 0; i < v->n; i++) {
        const struct gt_abi_piece *p = &v->piece[i];
        if (p->reg)
            printf(" %s+%u:%u:%u", p->reg, p->in_reg, p->in_value, p->size);
        else
            printf(" @%d:%u:%u", p->stack, p->in_value, p->size);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct gt_type_prototypes *p;
    struct gt_error err;
    const struct gt_abi *abi = argc == 3 ? gt_abi_by_name(argv[1]) : NULL;

    if (!abi || gt_type_dwarf_prototypes(argv[2], NULL, &p, &err) != GT_OK) {
        fprintf(stderr, "places_tool: %s\n", abi ? err.text : "usage: places_tool ABI FILE");
        return 1;
    }
    for (size_t i = 0; i < p->n; i++) {
        uint32_t n = gt_type_get(p->types, p->item[i].type)->n;
        struct gt_abi_value result, *param = calloc(n + 1, sizeof *param);
        if (!param)
            return 1;
        gt_abi_place_prototype(abi, p, &p->item[i], &result, param);
        printf("function %llx %s\n", (unsigned long long)p->item[i].addr, p->item[i].name);
        show("result", &result);
        for (uint32_t j = 0; j < n; j++)
            show("param", &param[j]);
        free(param);
    }
    gt_type_prototypes_free(p);
    return 0;
}
