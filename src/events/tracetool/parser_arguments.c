/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments and their types: see parser.h. */
#include "events/tracetool/parser_private.h"
#include "events/tracetool/words.h"

#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

/* What a type's words come to while they are read. */
struct type {
    const char *start; /* its first token */
    unsigned count[GT_WORD_KINDS];
    enum gt_type_base fixed; /* of a type of one word */
    unsigned stars, words;
    bool is_tcg_pointer; /* its star is not written */
    GString *text;
};

static void add_word(struct type *t, const struct gt_token *token)
{
    if (t->text->len && t->text->str[t->text->len - 1] != '*')
        g_string_append_c(t->text, ' ');
    g_string_append_len(t->text, token->at, (gssize)token->length);
}

/* int, with what may go with it */
static int integer_base(const struct type *t)
{
    unsigned is_unsigned = t->count[GT_WORD_UNSIGNED], is_short = t->count[GT_WORD_SHORT];
    if (is_unsigned + t->count[GT_WORD_SIGNED] > 1 || is_short > 1 || t->count[GT_WORD_INT] > 1)
        return -1;
    switch (t->count[GT_WORD_LONG]) {
    case 0:
        return is_short ? (is_unsigned ? GT_TYPE_USHORT : GT_TYPE_SHORT)
                        : (is_unsigned ? GT_TYPE_UINT : GT_TYPE_INT);
    case 1:
        return is_short ? -1 : is_unsigned ? GT_TYPE_ULONG : GT_TYPE_LONG;
    case 2:
        return is_short ? -1 : is_unsigned ? GT_TYPE_ULONG_LONG : GT_TYPE_LONG_LONG;
    default:
        return -1;
    }
}

/* The type that the words make, or -1. */
static int base_of(const struct type *t)
{
    if (t->count[GT_WORD_FIXED] || t->count[GT_WORD_TCG])
        return t->words == 1 ? (int)t->fixed : -1;
    if (t->count[GT_WORD_CHAR]) {
        if (t->words == 1)
            return GT_TYPE_CHAR;
        if (t->words == 2 && t->count[GT_WORD_UNSIGNED])
            return GT_TYPE_UCHAR;
        return t->words == 2 && t->count[GT_WORD_SIGNED] ? GT_TYPE_SCHAR : -1;
    }
    return integer_base(t);
}

/* What code that QEMU translates has in a TCGv when it runs. */
static void add_tcg(struct type *t, enum gt_type_base fixed)
{
    t->is_tcg_pointer = fixed == GT_TYPE_VOID;
    t->stars += t->is_tcg_pointer;
    g_string_append_printf(t->text, "%s%s", t->text->len ? " " : "",
                           t->is_tcg_pointer         ? "void *"
                           : fixed == GT_TYPE_UINT32 ? "uint32_t"
                                                     : "uint64_t");
}

/* { word } { "*" | "const" }: stops at the first token that is not a part of a type. */
static void type(struct gt_parser *p, struct type *t)
{
    const struct gt_token *token = &p->lexer.token;
    for (t->start = token->at;; gt_lexer_next(&p->lexer)) {
        enum gt_type_base fixed = GT_TYPE_INT;
        enum gt_word_kind kind = gt_word_kind(token, &fixed);
        if (gt_token_is(token, '*') && t->words) {
            if (t->text->str[t->text->len - 1] != '*')
                g_string_append_c(t->text, ' ');
            g_string_append_c(t->text, '*');
            t->stars++;
        } else if (kind == GT_WORD_CONST) {
            add_word(t, token);
            t->count[kind] += !t->stars;
        } else if (kind != GT_WORD_OTHER && !t->stars) {
            if (kind == GT_WORD_TCG)
                add_tcg(t, fixed);
            else
                add_word(t, token);
            t->fixed = fixed;
            t->count[kind]++;
            t->words++;
        } else {
            return;
        }
    }
}

/* ---- an argument ----------------------------------------------------------------------------- */

static bool at_end_of_argument(const struct gt_token *t)
{
    return t->kind == GT_TOKEN_END || gt_token_is(t, ',') || gt_token_is(t, ')');
}

/* To the argument's "," or ")", past parentheses inside it. */
static void skip_argument(struct gt_parser *p)
{
    const struct gt_token *t = &p->lexer.token;
    for (unsigned depth = 0; depth || !at_end_of_argument(t); gt_lexer_next(&p->lexer)) {
        if (t->kind == GT_TOKEN_END)
            return;
        depth += gt_token_is(t, '(');
        depth -= gt_token_is(t, ')') && depth;
    }
}

static void explain_no_type(struct gt_parser *p)
{
    const struct gt_token *t = &p->lexer.token;
    struct gt_lexer ahead = p->lexer;
    gt_lexer_next(&ahead);
    if (at_end_of_argument(t))
        gt_parser_error(p, "expected an argument");
    else if (t->kind != GT_TOKEN_WORD)
        gt_parser_error(p, "expected an argument's type");
    else if (at_end_of_argument(&ahead.token))
        gt_parser_error(p, "argument '%.*s' has no type", (int)t->length, t->at);
    else
        gt_parser_error(p,
                        "type '%.*s' is not allowed: integers of C and <stdint.h>, bool, char and "
                        "pointers to them are; others are passed as 'void *'",
                        (int)t->length, t->at);
}

/* The readers of traces, QEMU's and ours, know a string by just these spellings. */
static bool begins_as_string(const struct gt_parser *p, const struct type *t)
{
    static const char *const spellings[] = {"char *", "char*", "const char *", "const char*"};
    size_t left = (size_t)(p->line.end - t->start);
    for (size_t i = 0; i < G_N_ELEMENTS(spellings); i++)
        if (left >= strlen(spellings[i]) && !memcmp(t->start, spellings[i], strlen(spellings[i])))
            return true;
    return false;
}

static bool check_type(struct gt_parser *p, const struct gt_declaration *d, const struct type *t,
                       struct gt_declared_argument *out)
{
    int base = base_of(t);
    const char *problem = NULL;
    if (base < 0)
        problem = "is no type of C";
    else if (base == GT_TYPE_VOID && !t->stars)
        problem = "has no value: a pointer is 'void *', and no arguments are '(void)'";
    else if (t->count[GT_WORD_TCG] && !d->tcg)
        problem = "is for events with the property tcg";
    else if (t->count[GT_WORD_TCG] && t->stars > t->is_tcg_pointer)
        problem = "is no value: TCGv is passed as it is";
    if (problem) {
        gt_diagnose(&p->errors, &p->line, t->start, "type '%s' %s",
                    t->count[GT_WORD_TCG] ? "TCGv" : t->text->str, problem);
        return false;
    }
    out->is_tcg = t->count[GT_WORD_TCG];
    out->argument.base = (enum gt_type_base)base;
    out->argument.stars = t->stars;
    out->argument.is_const = t->count[GT_WORD_CONST];
    out->argument.is_string = base == GT_TYPE_CHAR && t->stars == 1 && begins_as_string(p, t);
    out->argument.type = gt_event_list_string(&p->events, t->text->str, t->text->len);
    return true;
}

static bool check_name(struct gt_parser *p, const struct gt_declaration *d, const struct type *t)
{
    const struct gt_token *name = &p->lexer.token;
    enum gt_type_base unused;
    if (at_end_of_argument(name))
        gt_parser_error(p, "argument of type '%s' has no name", t->text->str);
    else if (name->kind == GT_TOKEN_NUMBER)
        gt_parser_error(p, "argument name '%.*s' begins with a digit", (int)name->length, name->at);
    else if (name->kind != GT_TOKEN_WORD)
        gt_parser_error(p, "expected the name of the argument of type '%s'", t->text->str);
    else if (gt_word_kind(name, &unused) != GT_WORD_OTHER)
        gt_parser_error(p, "'%.*s' is a type, expected the name of the argument of type '%s'",
                        (int)name->length, name->at, t->text->str);
    else if (name->length > 3 && !memcmp(name->at, "_gt_", 4))
        gt_parser_error(p, "names that begin with _gt_ are kept for generated code");
    else {
        for (unsigned i = 0; i < d->n_arguments; i++)
            if (gt_token_is_word(name, d->arguments[i].argument.name)) {
                gt_parser_error(p, "a second argument is named '%.*s'", (int)name->length,
                                name->at);
                return false;
            }
        return true;
    }
    return false;
}

static bool check_end(struct gt_parser *p, const struct gt_token *name)
{
    const struct gt_token *t = &p->lexer.token;
    if (at_end_of_argument(t))
        return true;
    if (gt_token_is(t, '['))
        gt_parser_error(p, "arrays are not allowed, pass a pointer");
    else
        gt_parser_error(p, "expected ',' or ')' after argument '%.*s'", (int)name->length,
                        name->at);
    return false;
}

/* argument = type name */
static bool argument(struct gt_parser *p, struct gt_declaration *d)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct type t = {.text = text};
    struct gt_declared_argument a = {0};
    type(p, &t);
    if (!t.words) {
        explain_no_type(p);
        return false;
    }
    bool good = check_type(p, d, &t, &a);
    struct gt_token name = p->lexer.token;
    if ((!good && at_end_of_argument(&name)) || !check_name(p, d, &t))
        return false;
    gt_lexer_next(&p->lexer);
    if (!check_end(p, &name) || !good)
        return false;
    a.argument.name = gt_event_list_string(&p->events, name.at, name.length);
    d->arguments[d->n_arguments++] = a;
    return true;
}

/* "void" | argument { "," argument }, then ")" */
bool gt_parse_arguments(struct gt_parser *p, struct gt_declaration *d)
{
    const struct gt_token *t = &p->lexer.token;
    struct gt_lexer ahead = p->lexer;
    gt_lexer_next(&ahead);
    bool good = true;
    if (gt_token_is_word(t, "void") && gt_token_is(&ahead.token, ')')) {
        gt_lexer_next(&p->lexer);
    } else if (gt_token_is(t, ')')) {
        gt_parser_error(p, "expected arguments, or 'void' for none");
        good = false;
    } else {
        for (unsigned n = 0;; n++) {
            if (n == GT_EVENT_DECLARED) {
                gt_parser_error(p, "an event has at most %d arguments", GT_EVENT_DECLARED);
                good = false;
            }
            if (n >= GT_EVENT_DECLARED || !argument(p, d)) {
                good = false;
                skip_argument(p);
            }
            if (!gt_token_is(t, ','))
                break;
            gt_lexer_next(&p->lexer);
        }
    }
    if (!gt_token_is(t, ')')) {
        if (good)
            gt_parser_error(p, "expected ')' after the arguments");
        return false;
    }
    gt_lexer_next(&p->lexer);
    return good;
}
