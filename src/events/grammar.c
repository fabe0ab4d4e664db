/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The grammar of a trace-events file: see grammar.h. */
#include "events/grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct parser {
    const char *at, *end;
    gt_grammar_report report;
    void *self;
    int status;
};

static const char *const type_words[] = {
    "int",      "long",    "short",   "char",     "bool",      "unsigned",  "signed",
    "int8_t",   "uint8_t", "int16_t", "uint16_t", "int32_t",   "uint32_t",  "int64_t",
    "uint64_t", "void",    "size_t",  "ssize_t",  "uintptr_t", "ptrdiff_t", "const",
};

static void fail(struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct parser *p, const char *at, const char *format, ...)
{
    char message[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    p->status = GT_TRACE_E_FORMAT;
    p->report(p->self, at, message);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
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
    while (p->at < p->end && is_blank(*p->at))
        p->at++;
}

/* Empty where something else comes. */
static struct gt_span take_word(struct parser *p)
{
    struct gt_span s = {p->at, 0};
    while (p->at < p->end && is_word(*p->at))
        p->at++;
    s.n = (size_t)(p->at - s.at);
    return s;
}

bool gt_grammar_is_type(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
        if (is((struct gt_span){word, n}, type_words[i]))
            return true;
    return false;
}

static void check_name(struct parser *p, struct gt_span name, const char *of)
{
    if (name.n && name.at[0] >= '0' && name.at[0] <= '9')
        fail(p, name.at, "the name of %s begins with a digit: '%.*s'", of, shown(name), name.at);
}

static void take_property(struct parser *p, struct gt_span word, struct gt_grammar_event *out)
{
    unsigned property = is(word, "disable") ? GT_GRAMMAR_DISABLE
                        : is(word, "vcpu")  ? GT_GRAMMAR_VCPU
                        : is(word, "tcg")   ? GT_GRAMMAR_TCG
                                            : 0;
    if (!property)
        fail(p, word.at, "unknown property '%.*s', expected disable, vcpu or tcg", shown(word),
             word.at);
    else if (out->properties & property)
        fail(p, word.at, "property '%.*s' is given twice", shown(word), word.at);
    out->properties |= property;
}

/* Properties and the name, up to behind the parenthesis. */
static bool take_head(struct parser *p, struct gt_grammar_event *out)
{
    struct gt_span word;
    while ((word = take_word(p)).n) {
        const char *end = p->at;
        skip_blanks(p);
        if (p->at < p->end && *p->at == '(') {
            if (p->at != end)
                fail(p, end, "blanks between the name and '('");
            out->name = word;
            check_name(p, word, "an event");
            p->at++;
            return true;
        }
        if (p->at == end)
            break;
        take_property(p, word, out);
    }
    fail(p, p->at,
         p->at < p->end ? "expected the name of an event and '('" : "the line ends before '('");
    return false;
}

/* QEMU's simple backend tells strings by the type's letters, blanks included. */
static bool is_string(struct gt_span type)
{
    return is(type, "const char *") || is(type, "char *") || is(type, "const char*") ||
           is(type, "char*");
}

/* What a word of a type without stars tells of its kind. */
static void learn_kind(struct gt_span word, struct gt_grammar_argument *a)
{
    if (is(word, "bool"))
        a->kind = GT_TRACE_BOOL;
    else if (word.at[0] == 'u' || is(word, "size_t")) /* unsigned, uint8_t, ..., uintptr_t */
        a->kind = GT_TRACE_UNSIGNED;
}

static bool is_tcg(struct gt_span word)
{
    return word.n >= 4 && memcmp(word.at, "TCGv", 4) == 0;
}

static void take_type_word(struct parser *p, struct gt_span word, bool tcg_event,
                           struct gt_grammar_argument *a)
{
    if (is_tcg(word)) {
        a->tcg = true;
        a->kind = GT_TRACE_UNSIGNED;
        if (!tcg_event)
            fail(p, word.at, "type '%.*s' is for events with the property tcg", shown(word),
                 word.at);
    } else if (!gt_grammar_is_type(word.at, word.n)) {
        fail(p, word.at,
             "type '%.*s' is not allowed: only standard C types and integers of fixed size are; "
             "pass structures as 'void *'",
             shown(word), word.at);
    } else {
        learn_kind(word, a);
    }
}

/* Up to the comma or parenthesis behind it. The name is the last word, unless it is a star's. */
static void take_argument(struct parser *p, bool tcg_event, struct gt_grammar_argument *a)
{
    const char *start = p->at, *type_end = start;
    struct gt_span held = {start, 0}; /* the word that may turn out to be the name */
    unsigned stars = 0;
    *a = (struct gt_grammar_argument){.kind = GT_TRACE_SIGNED};
    for (;; skip_blanks(p)) {
        struct gt_span word = take_word(p);
        bool star = !word.n && p->at < p->end && *p->at == '*';
        if (!word.n && !star)
            break;
        if (held.n) {
            take_type_word(p, held, tcg_event, a);
            type_end = held.at + held.n;
        }
        held = word;
        if (star) {
            stars++;
            type_end = ++p->at;
        }
    }
    a->type = (struct gt_span){start, (size_t)(type_end - start)};
    a->name = held;
    if (stars)
        a->kind = is_string(a->type) ? GT_TRACE_STRING : GT_TRACE_POINTER;
    if (p->at == start)
        fail(p, start, "expected an argument, or 'void' for none");
    else if (!held.n || gt_grammar_is_type(held.at, held.n))
        fail(p, start, "an argument has no name: '%.*s'",
             shown((struct gt_span){start, (size_t)(p->at - start)}), start);
    else if (!a->type.n)
        fail(p, start, "an argument has no type: '%.*s'", shown(held), held.at);
    check_name(p, held, "an argument");
}

static void check_argument(struct parser *p, const struct gt_grammar_event *e,
                           const struct gt_grammar_argument *a)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_span *other = &e->arguments[i].name;
        if (a->name.n && other->n == a->name.n && memcmp(other->at, a->name.at, a->name.n) == 0)
            fail(p, a->name.at, "two arguments are called '%.*s'", shown(a->name), a->name.at);
    }
}

static bool at_void(const struct parser *p)
{
    struct parser look = *p;
    skip_blanks(&look);
    if (!is(take_word(&look), "void"))
        return false;
    skip_blanks(&look);
    return look.at < look.end && *look.at == ')';
}

/* Up to behind the closing parenthesis. */
static bool take_arguments(struct parser *p, struct gt_grammar_event *out)
{
    if (at_void(p)) {
        p->at = (const char *)memchr(p->at, ')', (size_t)(p->end - p->at)) + 1;
        return true;
    }
    for (unsigned seen = 1;; seen++) {
        struct gt_grammar_argument a;
        skip_blanks(p);
        const char *start = p->at;
        take_argument(p, out->properties & GT_GRAMMAR_TCG, &a);
        check_argument(p, out, &a);
        if (seen == GT_TRACE_ARGUMENTS_MAX + 1)
            fail(p, start, "more than %d arguments", GT_TRACE_ARGUMENTS_MAX);
        if (out->n_arguments < GT_TRACE_ARGUMENTS_MAX)
            out->arguments[out->n_arguments++] = a;
        if (p->at < p->end && *p->at == ')') {
            p->at++;
            return true;
        }
        if (p->at == p->end) {
            fail(p, p->at, "the line ends before ')'");
            return false;
        }
        if (*p->at != ',') {
            fail(p, p->at, "'%c' in the arguments, expected ',' or ')'", *p->at);
            return false;
        }
        p->at++;
    }
}

/* From its opening quote to behind the closing one. */
static bool take_string(struct parser *p, struct gt_grammar_event *out)
{
    const char *start = p->at++;
    while (p->at < p->end && *p->at != '"') {
        if (*p->at == '\\' && p->at + 1 < p->end) {
            if (*++p->at == 'n' && !out->newline)
                out->newline = p->at - 1;
        } else if (*p->at == '%' && p->at + 1 < p->end && p->at[1] == 'm') {
            fail(p, p->at, "%%m in the format: pass the error as an argument");
        } else if (*p->at == '%' && p->at + 1 < p->end && p->at[1] == '%') {
            p->at++;
        }
        p->at++;
    }
    if (p->at >= p->end) {
        fail(p, start, "the format has no closing quote");
        return false;
    }
    p->at++;
    return true;
}

/* Literals and macros up to a comma or the end. */
static bool take_format(struct parser *p, struct gt_grammar_event *out)
{
    struct gt_span *format = &out->formats[out->n_formats++];
    format->at = p->at;
    if (p->at == p->end || *p->at != '"') {
        fail(p, p->at, p->at == p->end ? "expected a format" : "expected a format, in quotes");
        return false;
    }
    for (; p->at < p->end && *p->at != ','; skip_blanks(p)) {
        struct gt_span word = take_word(p);
        if (word.n && (word.n < 4 || memcmp(word.at, "PRI", 3) != 0)) {
            fail(p, word.at, "'%.*s' in the format, expected a string or a PRI macro", shown(word),
                 word.at);
        } else if (!word.n && *p->at != '"') {
            fail(p, p->at, "'%c' behind the format", *p->at);
            return false;
        } else if (!word.n && !take_string(p, out)) {
            return false;
        }
        format->n = (size_t)(p->at - format->at);
    }
    const char *last = format->at + format->n - 3;
    if (format->n > 3 && memcmp(last, "\\n\"", 3) == 0)
        fail(p, last, "the format ends with a newline");
    return true;
}

static void take_formats(struct parser *p, struct gt_grammar_event *out)
{
    skip_blanks(p);
    if (p->at == p->end)
        return;
    if (!take_format(p, out) || p->at == p->end)
        return;
    const char *comma = p->at++;
    if (!(out->properties & GT_GRAMMAR_TCG))
        fail(p, comma, "a second format, which is for events with the property tcg");
    skip_blanks(p);
    if (take_format(p, out) && p->at < p->end)
        fail(p, p->at, "a third format");
}

int gt_grammar_line(const char *line, size_t n, struct gt_grammar_event *out,
                    gt_grammar_report report, void *self)
{
    struct parser p = {line, line + n, report, self, 1};
    *out = (struct gt_grammar_event){0};
    skip_blanks(&p);
    if (p.at == p.end || *p.at == '#')
        return 0;
    if (take_head(&p, out) && take_arguments(&p, out))
        take_formats(&p, out);
    if (p.status == 1 && (out->properties & GT_GRAMMAR_TCG) && out->n_formats != 2)
        fail(&p, p.end, "an event with the property tcg has two formats");
    return p.status;
}
