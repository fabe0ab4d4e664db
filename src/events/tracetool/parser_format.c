/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats: see parser.h. The checks are those that a compiler does not make, or reports unclearly;
 * the compiler checks that conversions match arguments. */
#include "events/tracetool/parser_private.h"

#include <string.h>

/* How far a format was followed. */
struct scan {
    bool in_conversion; /* after a '%' whose letter has not come yet */
    bool good;
    const char *percent;
};

/* macro = "PRI" ( "d" | "i" | "o" | "u" | "x" | "X" ) width */
static bool is_macro(const struct gt_token *t)
{
    static const char *const widths[] = {"8",     "16",     "32",      "64",      "MAX",
                                         "PTR",   "LEAST8", "LEAST16", "LEAST32", "LEAST64",
                                         "FAST8", "FAST16", "FAST32",  "FAST64"};
    if (t->kind != GT_TOKEN_WORD || t->length < 5 || memcmp(t->at, "PRI", 3) ||
        !strchr("diouxX", t->at[3]))
        return false;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strlen(widths[i]) == t->length - 4 && !memcmp(widths[i], t->at + 4, t->length - 4))
            return true;
    return false;
}

static void found_newline(struct gt_parser *p, struct scan *s, const char *at, bool is_last)
{
    if (is_last) {
        gt_diagnose(&p->errors, &p->line, at, "a format must not end with a newline");
        s->good = false;
    } else {
        const struct gt_newline n = {p->line, at};
        g_array_append_val(p->newlines, n);
    }
}

static void follow(struct gt_parser *p, struct scan *s, int c, const char *at)
{
    if (!s->in_conversion) {
        if (c == '%')
            *s = (struct scan){true, s->good, at};
        return;
    }
    if (c == 'm') {
        gt_diagnose(&p->errors, &p->line, s->percent,
                    "%%m is forbidden, pass the error as an argument");
        s->good = false;
    }
    /* flags, width, precision and length go on */
    s->in_conversion = c && strchr("#0- +'I123456789.*$hlLqjzt", c);
}

/* Nothing follows the token in this format. */
static bool is_last_token(const struct gt_parser *p)
{
    struct gt_lexer ahead = p->lexer;
    gt_lexer_next(&ahead);
    return ahead.token.kind == GT_TOKEN_END || gt_token_is(&ahead.token, ',');
}

static void literal(struct gt_parser *p, struct scan *s)
{
    const struct gt_token *t = &p->lexer.token;
    const char *end = t->at + t->length - 1;
    for (const char *c = t->at + 1; c < end; c++) {
        const char *at = c;
        int value = (unsigned char)*c;
        if (*c == '\\') {
            c++;
            value = gt_literal_escape(&c, end);
        }
        if (value == '\n')
            found_newline(p, s, at, c + 1 == end && is_last_token(p));
        follow(p, s, value, at);
    }
}

static void macro(struct gt_parser *p, struct scan *s)
{
    const struct gt_token *t = &p->lexer.token;
    if (!is_macro(t)) {
        gt_parser_error(p, "'%.*s' is neither a string nor a macro like PRIx64", (int)t->length,
                        t->at);
        s->good = false;
    }
    s->in_conversion = false;
}

/* format = literal { literal | macro }; NULL: there were errors */
static const char *format(struct gt_parser *p)
{
    const struct gt_token *t = &p->lexer.token;
    struct scan s = {.good = true};
    g_autoptr(GString) text = g_string_new(NULL);
    for (; t->kind == GT_TOKEN_LITERAL || t->kind == GT_TOKEN_WORD; gt_lexer_next(&p->lexer)) {
        if (t->kind == GT_TOKEN_LITERAL)
            literal(p, &s);
        else
            macro(p, &s);
        if (text->len)
            g_string_append_c(text, ' ');
        g_string_append_len(text, t->at, (gssize)t->length);
    }
    if (t->kind == GT_TOKEN_OPEN_LITERAL) {
        gt_parser_error(p, "the format has no closing quote");
        p->lexer.next = p->lexer.end;
        gt_lexer_next(&p->lexer);
        return NULL;
    }
    if (s.in_conversion && s.good) {
        gt_diagnose(&p->errors, &p->line, s.percent, "the format ends within this conversion");
        s.good = false;
    }
    return s.good ? gt_event_list_string(&p->events, text->str, text->len) : NULL;
}

/* [ format [ "," format ] ] */
bool gt_parse_formats(struct gt_parser *p, struct gt_declaration *d)
{
    const struct gt_token *t = &p->lexer.token;
    bool good = true;
    if (t->kind == GT_TOKEN_END)
        return true;
    if (t->kind != GT_TOKEN_LITERAL && t->kind != GT_TOKEN_OPEN_LITERAL) {
        gt_parser_error(p, "expected a format in quotes, or nothing, after the arguments");
        return false;
    }
    for (;;) {
        const char *f = format(p);
        good = good && f;
        d->formats[d->n_formats++] = f;
        if (!gt_token_is(t, ',') || d->n_formats == 2)
            break;
        if (!d->tcg) {
            gt_parser_error(p, "a second format is for events with the property tcg");
            return false;
        }
        gt_lexer_next(&p->lexer);
        if (t->kind != GT_TOKEN_LITERAL && t->kind != GT_TOKEN_OPEN_LITERAL) {
            gt_parser_error(p, "expected the format of execution in quotes");
            return false;
        }
    }
    if (t->kind != GT_TOKEN_END && good) {
        gt_parser_error(p, "expected nothing after the format");
        return false;
    }
    return good;
}
