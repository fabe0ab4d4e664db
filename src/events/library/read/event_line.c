/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line of a trace-events file: see event_line.h. */
#include "events/library/read/event_line.h"

#include "events/library/message.h"

#include <string.h>

struct parser {
    const char *at, *end;
    const char **where;
    struct gt_trace_error *err;
};

#define FAIL(p, place, ...)                                                                        \
    (*(p)->where = (place), gt_events_fail((p)->err, GT_TRACE_E_FORMAT, __VA_ARGS__))

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is(struct gt_span s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.at, word, s.n) == 0;
}

static int shown(struct gt_span s)
{
    return s.n > 64 ? 64 : (int)s.n;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && memchr(" \t\r\v\f", *p->at, 5))
        p->at++;
}

/* The next character, after blanks; 0 at the end. */
static char peek(struct parser *p)
{
    skip_blanks(p);
    return p->at < p->end ? *p->at : '\0';
}

/* Empty where something else comes. */
static struct gt_span take_word(struct parser *p)
{
    skip_blanks(p);
    struct gt_span s = {p->at, 0};
    while (p->at < p->end && is_word(*p->at))
        p->at++;
    s.n = (size_t)(p->at - s.at);
    return s;
}

static int take_property(struct parser *p, struct gt_span word, struct gt_events_line *out)
{
    bool *property = is(word, "disable") ? &out->disable
                     : is(word, "vcpu")  ? &out->vcpu
                     : is(word, "tcg")   ? &out->tcg
                                         : NULL;
    if (!property)
        return FAIL(p, word.at, "unknown property '%.*s', expected disable, vcpu, tcg or at=PLACE",
                    shown(word), word.at);
    *property = true;
    return 0;
}

/* A literal: up to its closing quote. */
static int take_literal(struct parser *p)
{
    const char *open = p->at++;
    while (p->at < p->end && *p->at != '"')
        p->at += *p->at == '\\' && p->at + 1 < p->end ? 2 : 1;
    if (p->at == p->end)
        return FAIL(p, open, "the text has no closing quote");
    p->at++;
    return 0;
}

/* After "at=". */
static int take_place(struct parser *p, struct gt_events_line *out)
{
    const char *start = p->at;
    while (p->at < p->end && !memchr(" \t\r\v\f\"", *p->at, 6))
        p->at++;
    if (p->at == start || out->at.n)
        return FAIL(p, start, out->at.n ? "at= is given twice" : "expected a place after at=");
    const char *stop = p->at;
    if (peek(p) == '"') {
        int status = take_literal(p);
        if (status < 0)
            return status;
        stop = p->at;
    }
    out->at = (struct gt_span){start, (size_t)(stop - start)};
    return 0;
}

/* A property's end, or "guest." before the name, which says no more than the file does. */
static int take_other(struct parser *p, struct gt_span word, struct gt_events_line *out)
{
    if (is(word, "at") && p->at < p->end && *p->at == '=') {
        p->at++;
        return take_place(p, out);
    }
    if (is(word, "guest") && p->at < p->end && *p->at == '.') {
        p->at++;
        return 0;
    }
    return take_property(p, word, out);
}

/* Properties and the name, up to and including the parenthesis. */
static int take_head(struct parser *p, struct gt_events_line *out)
{
    struct gt_span word;
    while ((word = take_word(p)).n) {
        if (peek(p) == '(') {
            out->name = word;
            p->at++;
            return 0;
        }
        int status = take_other(p, word, out);
        if (status < 0)
            return status;
    }
    return FAIL(p, p->at, "expected an event: NAME(ARGUMENTS)");
}

/* QEMU's simple backend detects strings by the type's letters up to its star, blanks included. */
static bool is_string(struct gt_span type)
{
    while (type.n && type.at[type.n - 1] != '*')
        type.n--;
    return is(type, "const char *") || is(type, "char *") || is(type, "const char*") ||
           is(type, "char*");
}

/* What a word of the type means. */
static void learn(struct gt_events_argument *a, struct gt_span word)
{
    a->tcg |= word.n >= 4 && memcmp(word.at, "TCGv", 4) == 0;
    if (is(word, "bool"))
        a->kind = GT_TRACE_BOOL;
    else if (a->tcg || word.at[0] == 'u' || is(word, "size_t")) /* unsigned, uint8_t, ... */
        a->kind = GT_TRACE_UNSIGNED;
}

/* Up to and including the comma or parenthesis. The name is its last word. */
static int take_argument(struct parser *p, struct gt_events_argument *a)
{
    unsigned stars = 0;
    skip_blanks(p);
    const char *start = p->at, *type_end = start;
    *a = (struct gt_events_argument){.kind = GT_TRACE_SIGNED};
    for (;;) {
        struct gt_span word = take_word(p);
        if (!word.n && peek(p) != '*')
            break;
        if (a->name.n) {
            learn(a, a->name);
            type_end = a->name.at + a->name.n;
        }
        a->name = word;
        if (!word.n) {
            stars++;
            type_end = ++p->at;
        }
    }
    a->type = (struct gt_span){start, (size_t)(type_end - start)};
    if (stars)
        a->kind = is_string(a->type) ? GT_TRACE_STRING : GT_TRACE_POINTER;
    if (!a->name.n || !a->type.n)
        return FAIL(p, start, "expected an argument: its type and its name");
    return 0;
}

static bool take_void(struct parser *p)
{
    struct parser look = *p;
    if (!is(take_word(&look), "void") || peek(&look) != ')')
        return false;
    p->at = look.at;
    return true;
}

static int take_arguments(struct parser *p, struct gt_events_line *out)
{
    for (bool more = !take_void(p); more; more = peek(p) == ',') {
        p->at += out->n_arguments > 0; /* the comma */
        if (out->n_arguments == GT_TRACE_ARGUMENTS_MAX)
            return FAIL(p, p->at, "more than %d arguments", GT_TRACE_ARGUMENTS_MAX);
        int status = take_argument(p, &out->arguments[out->n_arguments++]);
        if (status < 0)
            return status;
    }
    if (peek(p) != ')')
        return FAIL(p, p->at, "expected ',' or ')'");
    out->after = ++p->at;
    return 0;
}

int gt_events_line_read(const char *line, size_t n, struct gt_events_line *out, const char **where,
                        struct gt_trace_error *err)
{
    struct parser p = {line, line + n, where, err};
    *out = (struct gt_events_line){0};
    if (peek(&p) == '\0' || peek(&p) == '#')
        return 0;
    int status = take_head(&p, out);
    if (status == 0)
        status = take_arguments(&p, out);
    return status < 0 ? status : 1;
}
