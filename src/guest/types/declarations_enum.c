/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enumerators of C declarations.
 *
 *   enumerators = (NAME ("=" sum)? ("," | end))*
 *   sum         = operand (("|" | "+" | "-" | "<<") operand)*     from left to right
 *   operand     = NUMBER | NAME of an enumerator before it | ("-" | "~") operand | "(" sum ")"
 */
#include "guest/types/declarations_private.h"

#include <string.h>

enum { DEPTH = 32 };

bool gt_type_declarations_enter(struct gt_type_declarations_parser *p)
{
    if (++p->depth > DEPTH)
        gt_type_tokens_fail(&p->tokens,
                            "declarations are nested too deeply here, at most 32 levels");
    return p->depth <= DEPTH && p->tokens.status == GT_OK;
}

const char *gt_type_declarations_name(struct gt_type_declarations_parser *p,
                                      const struct gt_type_declaration_token *name)
{
    return gt_types_name(p->out->types, name->at, name->n);
}

static uint64_t parse_sum(struct gt_type_declarations_parser *p, const struct gt_type_value *v,
                          size_t n);

static uint64_t parse_operand(struct gt_type_declarations_parser *p, const struct gt_type_value *v,
                              size_t n)
{
    struct gt_type_declaration_token token = p->tokens.token;
    uint64_t value = 0;

    if (!gt_type_declarations_enter(p))
        return 0;
    gt_type_tokens_next(&p->tokens);
    if (token.kind == GT_TOKEN_NUMBER) {
        value = token.value;
    } else if (token.n == 1 && *token.at == '-') {
        value = -parse_operand(p, v, n);
    } else if (token.n == 1 && *token.at == '~') {
        value = ~parse_operand(p, v, n);
    } else if (token.n == 1 && *token.at == '(') {
        value = parse_sum(p, v, n);
        gt_type_tokens_expect(&p->tokens, ")");
    } else {
        size_t i = 0;
        while (i < n && (strlen(v[i].name) != token.n || memcmp(v[i].name, token.at, token.n)))
            i++;
        if (i == n)
            gt_type_tokens_fail(&p->tokens, "follows neither a number nor an earlier enumerator");
        else
            value = v[i].value;
    }
    p->depth--;
    return value;
}

/* Operators "|", "+", "-", "<<", from left to right: constants of headers have no others. */
static uint64_t parse_sum(struct gt_type_declarations_parser *p, const struct gt_type_value *v,
                          size_t n)
{
    uint64_t value = parse_operand(p, v, n);

    for (;;) {
        if (gt_type_tokens_take(&p->tokens, "|"))
            value |= parse_operand(p, v, n);
        else if (gt_type_tokens_take(&p->tokens, "+"))
            value += parse_operand(p, v, n);
        else if (gt_type_tokens_take(&p->tokens, "-"))
            value -= parse_operand(p, v, n);
        else if (gt_type_tokens_take(&p->tokens, "<<"))
            value <<= parse_operand(p, v, n) & 63;
        else
            return value;
    }
}

void gt_type_declarations_values(struct gt_type_declarations_parser *p, uint32_t id)
{
    struct gt_type type = *gt_type_get(p->out->types, id);
    struct gt_type_value v = {"", 0};

    while (p->tokens.status == GT_OK && !gt_type_tokens_is(&p->tokens, "}")) {
        if (p->tokens.token.kind != GT_TOKEN_NAME) {
            gt_type_tokens_fail(&p->tokens, "expected the name of an enumerator");
            return;
        }
        v.name = gt_type_declarations_name(p, &p->tokens.token);
        gt_type_tokens_next(&p->tokens);
        if (gt_type_tokens_take(&p->tokens, "="))
            v.value =
                parse_sum(p, gt_type_values(p->out->types, id), gt_type_get(p->out->types, id)->n);
        type.is_signed = type.is_signed || (int64_t)v.value < 0;
        gt_types_add_value(p->out->types, id, &v);
        v.value++;
        if (!gt_type_tokens_take(&p->tokens, ",") && !gt_type_tokens_is(&p->tokens, "}"))
            gt_type_tokens_fail(&p->tokens, "expected ',' or '}'");
    }
    gt_type_tokens_expect(&p->tokens, "}");
    type.incomplete = false;
    gt_types_set(p->out->types, id, &type);
    gt_type_find_flags(p->out->types, id);
}
