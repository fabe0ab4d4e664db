/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the prototypes of a file's functions, a line each: "NAME: RESULT, PARAMETER NAME, ...". A
 * type is its kind, size and name, then in brackets what it consists of: members, enumerators, what
 * it points to. Two files with the same types print the same.
 */
#include "guest/types/dwarf.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEPTH_MOST = 8 };

static const char kinds[] = "?vibcfxe*suaVFt"; /* by enum gt_type_kind */

static void show(const struct gt_types *types, uint32_t id, unsigned depth)
{
    const struct gt_type *t = gt_type_get(types, id);
    const struct gt_type_member *member = gt_type_members(types, id);
    const struct gt_type_value *value = gt_type_values(types, id);
    printf("%c%" PRIu32 "%s", kinds[t->kind], t->size, t->name);
    printf("%s%s%s%s%s%s%s", t->is_signed ? "-" : "", t->is_flags ? "|" : "", t->cxx ? "+" : "",
           t->by_reference ? "&" : "", t->incomplete ? "!" : "", t->variadic ? "..." : "",
           t->extended ? "x" : "");
    if (depth == DEPTH_MOST)
        return;
    printf("{");
    for (uint32_t i = 0; member && i < t->n; i++) {
        printf("%s:%" PRIu64 ":%u:%u%s%s ", member[i].name, member[i].bit, member[i].bits,
               member[i].align, member[i].base ? "b" : "", member[i].is_virtual ? "v" : "");
        show(types, member[i].type, depth + 1);
        printf("; ");
    }
    for (uint32_t i = 0; value && i < t->n; i++)
        printf("%s=%" PRIx64 "; ", value[i].name, value[i].value);
    if (t->kind == GT_TYPE_ARRAY || t->kind == GT_TYPE_VECTOR)
        printf("%" PRIu32 " of ", t->n);
    if (t->of)
        show(types, t->of, depth + 1);
    printf("}");
}

int main(int argc, char **argv)
{
    struct gt_type_prototypes *p;
    struct gt_error err;

    if (argc != 2 || gt_type_dwarf_prototypes(argv[1], NULL, &p, &err) != GT_OK) {
        fprintf(stderr, "prototypes_tool: %s\n", argc == 2 ? err.text : "usage: FILE");
        return 1;
    }
    for (size_t i = 0; i < p->n; i++) {
        const struct gt_type *t = gt_type_get(p->types, p->item[i].type);
        const struct gt_type_param *param = gt_type_params(p->types, p->item[i].type);
        printf("%s:%s%s%s ", p->item[i].name, t->variadic ? " variadic" : "",
               p->item[i].changed ? " changed" : "", p->item[i].named_only ? " named" : "");
        show(p->types, t->of, 0);
        for (uint32_t j = 0; j < t->n; j++) {
            printf(", ");
            show(p->types, param[j].type, 0);
            printf(" %s", param[j].name);
        }
        printf("\n");
    }
    gt_type_prototypes_free(p);
    return 0;
}
