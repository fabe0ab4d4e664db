/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of C declarations. Qualifiers, attributes, comments and lines of the preprocessor are left
 * out. */
#ifndef GT_GUEST_TYPES_TOKENS_H
#define GT_GUEST_TYPES_TOKENS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_type_declaration_token_kind { GT_TOKEN_END, GT_TOKEN_NAME, GT_TOKEN_NUMBER, GT_TOKEN_SIGN };

struct gt_type_declaration_token {
    enum gt_type_declaration_token_kind kind;
    const char *at; /* in the text */
    size_t n;
    uint64_t value; /* of a number */
};

struct gt_type_tokens {
    const char *name; /* for messages */
    const char *text, *at, *end;
    struct gt_type_declaration_token token; /* the current one */
    struct gt_error *err;
    int status; /* latches the first error; then the token is GT_TOKEN_END */
};

void gt_type_tokens_init(struct gt_type_tokens *l, const char *name, const char *text, size_t size,
                         struct gt_error *err);
void gt_type_tokens_next(struct gt_type_tokens *l);
bool gt_type_tokens_is(const struct gt_type_tokens *l, const char *text);
/* Consumes the token if it is that one. */
bool gt_type_tokens_take(struct gt_type_tokens *l, const char *text);
/* The same; else an error. */
void gt_type_tokens_expect(struct gt_type_tokens *l, const char *text);
/* Latches "NAME:LINE: 'TOKEN': WHAT". */
void gt_type_tokens_fail(struct gt_type_tokens *l, const char *what);
/* From an opening parenthesis or bracket, the current token, to the token after its end. */
void gt_type_tokens_skip_pair(struct gt_type_tokens *l);
/* Goes back to a token that was the current one. */
void gt_type_tokens_back(struct gt_type_tokens *l, struct gt_type_declaration_token to);

#endif
