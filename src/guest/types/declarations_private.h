/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the parser of C declarations share. */
#ifndef GT_GUEST_TYPES_DECLARATIONS_PRIVATE_H
#define GT_GUEST_TYPES_DECLARATIONS_PRIVATE_H

#include "guest/types/declarations.h"
#include "guest/types/tokens.h"

struct gt_type_declarations_parser {
    struct gt_type_tokens tokens;
    struct gt_type_prototypes *out;
    const struct gt_type_data_model *model;
    int depth;
};

/* One level of nesting more, which the caller takes back; false, and an error: too many. */
bool gt_type_declarations_enter(struct gt_type_declarations_parser *p);
const char *gt_type_declarations_name(struct gt_type_declarations_parser *p,
                                      const struct gt_type_declaration_token *name);

/* The enumerators of the enum `id`, after "{" and up to "}". */
void gt_type_declarations_values(struct gt_type_declarations_parser *p, uint32_t id);

/* Places the members of the struct or union `id` and completes it. */
void gt_type_declarations_layout(struct gt_types *types, const struct gt_type_data_model *model,
                                 uint32_t id, struct gt_type_member *m, size_t n);

#endif
