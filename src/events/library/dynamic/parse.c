/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats of events that are declared at run time:
 *
 *     format     = (LITERAL | MACRO)*      MACRO: PRIx64 and its like, after a '%' and its flags
 *     conversion = "%" [-+ #0]* [width] ["." precision] [hh h l ll z j t] letter
 */
#include "events/library/dynamic/dynamic.h"
#include "events/library/message.h"

#include <string.h>

enum { WIDTH_MAX = 64, TEXT_MAX = 4096 };

struct parser {
    struct gt_events_dynamic_event *e;
    const char *at, *end;
    char *text, *stop; /* the literals, joined; macros as "\1" and their bytes and letter */
    const char **where;
    struct gt_trace_error *err;
    const char *start;
    unsigned next; /* argument */
};

#define MACRO '\1' /* no literal has it: it is refused */

static int fail(const struct parser *p, const char *place, const char *message, char c)
{
    *p->where = place;
    return c ? gt_events_fail(p->err, GT_TRACE_E_FORMAT, "%s '%%%c'", message, c)
             : gt_events_fail(p->err, GT_TRACE_E_FORMAT, "%s", message);
}

/* ---- tokens -------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 87 : -1;
}

static char take_number(struct parser *p, int base, int most)
{
    int value = 0;
    for (int n = 0;
         n < most && p->at < p->end && hex_digit(*p->at) >= 0 && hex_digit(*p->at) < base; n++)
        value = value * base + hex_digit(*p->at++);
    return (char)value;
}

/* After the backslash. */
static char take_escape(struct parser *p)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    char c = *p->at;
    if (c >= '0' && c <= '7')
        return take_number(p, 8, 3);
    p->at++;
    if (c == 'x')
        return take_number(p, 16, 2);
    const char *known = c ? strchr(from, c) : NULL;
    return known ? to[known - from] : c;
}

static int take_literal(struct parser *p)
{
    const char *open = p->at++;
    while (p->at < p->end && *p->at != '"') {
        const char *place = p->at;
        char c = *p->at++;
        if (c == '\\' && p->at < p->end)
            c = take_escape(p);
        if (c == '\n' || c == '\0' || c == MACRO)
            return fail(p, place, "a format has no newline and no control character", 0);
        *p->stop++ = c;
    }
    if (p->at == p->end)
        return fail(p, open, "the format has no closing quote", 0);
    p->at++;
    return 0;
}

/* PRI, the letter, the width. */
static int take_macro(struct parser *p)
{
    static const struct {
        const char *name;
        char bytes;
    } widths[] = {{"8", 1},     {"16", 2},     {"32", 4},      {"64", 8},      {"MAX", 8},
                  {"PTR", 8},   {"LEAST8", 1}, {"LEAST16", 2}, {"LEAST32", 4}, {"LEAST64", 8},
                  {"FAST8", 1}, {"FAST16", 8}, {"FAST32", 8},  {"FAST64", 8}};
    const char *word = p->at;
    while (p->at < p->end &&
           (hex_digit(*p->at) >= 0 || ((*p->at | 32) >= 'a' && (*p->at | 32) <= 'z')))
        p->at++;
    size_t n = (size_t)(p->at - word);
    for (size_t i = 0; n > 4 && i < sizeof widths / sizeof *widths; i++) {
        if (memcmp(word, "PRI", 3) != 0 || !strchr("diouxX", word[3]) ||
            strlen(widths[i].name) != n - 4 || memcmp(widths[i].name, word + 4, n - 4) != 0)
            continue;
        *p->stop++ = MACRO;
        *p->stop++ = widths[i].bytes;
        *p->stop++ = word[3];
        return 0;
    }
    return fail(p, word, "expected a format in quotes, or a macro as PRIx64", 0);
}

static int join(struct parser *p)
{
    while (p->at < p->end) {
        int status = 0;
        if (memchr(" \t\r\v\f", *p->at, 5))
            p->at++;
        else
            status = *p->at == '"' ? take_literal(p) : take_macro(p);
        if (status < 0)
            return status;
    }
    return 0;
}

/* ---- conversions --------------------------------------------------------------------------- */

static uint8_t take_width(const char **at, const char *end)
{
    unsigned n = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        n = n > WIDTH_MAX ? n : n * 10 + (unsigned)(**at - '0');
    return (uint8_t)(n > WIDTH_MAX ? WIDTH_MAX + 1 : n);
}

static void take_flags(const char **at, const char *end, struct gt_events_dynamic_part *part)
{
    for (; *at < end && strchr("-+ #0", **at) && **at; ++*at) {
        part->left |= **at == '-';
        part->plus |= **at == '+';
        part->blank |= **at == ' ';
        part->zero |= **at == '0';
        part->alternative |= **at == '#';
    }
}

/* The length and the letter; false: unknown. */
static bool take_letter(const char **at, const char *end, struct gt_events_dynamic_part *part)
{
    part->bytes = 4;
    if (end - *at >= 3 && **at == MACRO) {
        part->bytes = (uint8_t)(*at)[1];
        part->conversion = (*at)[2];
        *at += 3;
        return true;
    }
    bool length = true;
    if (end - *at >= 2 && (**at == 'h' || **at == 'l') && (*at)[1] == **at) {
        part->bytes = **at == 'h' ? 1 : 8;
        *at += 2;
    } else if (*at < end && strchr("hlzjt", **at) && **at) {
        part->bytes = **at == 'h' ? 2 : 8;
        ++*at;
    } else {
        length = false;
    }
    if (*at == end || !**at || !strchr(length ? "diouxX" : "diouxXcps", **at))
        return false;
    part->conversion = *(*at)++;
    return true;
}

static bool fits(char conversion, enum gt_trace_kind kind)
{
    return conversion == 's'   ? kind == GT_TRACE_STRING
           : conversion == 'p' ? kind == GT_TRACE_POINTER
                               : kind != GT_TRACE_STRING && kind != GT_TRACE_POINTER;
}

/* The conversion as it is written: "%zu"; a macro's letter alone. */
static int refuse(const struct parser *p, const struct gt_events_dynamic_part *part,
                  const char *begin, const char *end, const char *message)
{
    enum { MOST = 24 };
    if (memchr(begin, MACRO, (size_t)(end - begin)) || end - begin > MOST)
        return fail(p, p->start, message, part->conversion);
    *p->where = p->start;
    return gt_events_fail(p->err, GT_TRACE_E_FORMAT, "%s '%%%.*s'", message, (int)(end - begin),
                          begin);
}

/* The conversion, which is written from `begin` to `end`, is of the next argument of a type that it
 * takes. */
static int find_argument(struct parser *p, struct gt_events_dynamic_part *part, const char *begin,
                         const char *end)
{
    while (p->next < p->e->n_arguments && !fits(part->conversion, p->e->argument[p->next].kind))
        p->next++;
    if (p->next == p->e->n_arguments)
        return refuse(p, part, begin, end, "no argument is left that has the type of");
    part->argument = (uint8_t)p->next++;
    return part->width > WIDTH_MAX || part->precision > WIDTH_MAX
               ? refuse(p, part, begin, end, "width or precision is more than 64 in")
               : 0;
}

/* After the '%'. */
static int take_conversion(struct parser *p, const char **at, struct gt_events_dynamic_part *part)
{
    const char *begin = *at;
    take_flags(at, p->stop, part);
    part->width = take_width(at, p->stop);
    part->precision = -1;
    if (*at < p->stop && **at == '.') {
        ++*at;
        part->precision = (int8_t)take_width(at, p->stop);
    }
    if (!take_letter(at, p->stop, part))
        return *at < p->stop && **at != MACRO
                   ? fail(p, p->start, "expected one of %d %i %u %o %x %X %c %p %s, not", **at)
                   : fail(p, p->start, "the format ends within a conversion", 0);
    if (part->conversion == 'i')
        part->conversion = 'd';
    return find_argument(p, part, begin, *at);
}

static int split(struct parser *p)
{
    struct gt_events_dynamic_event *e = p->e;
    struct gt_events_dynamic_part *part = &e->part[0];
    char *out = p->text;
    *part = (struct gt_events_dynamic_part){.text = out};
    for (const char *at = p->text; at < p->stop;) {
        char c = *at++;
        if (c == MACRO)
            return fail(p, p->start, "a macro stands after a '%' only", 0);
        if (c != '%' || (at < p->stop && *at == '%')) {
            at += c == '%';
            *out++ = c; /* never beyond `at` */
            part->n++;
            continue;
        }
        int status = take_conversion(p, &at, part);
        if (status < 0)
            return status;
        part = &e->part[++e->n_parts];
        *part = (struct gt_events_dynamic_part){.text = out};
    }
    e->n_parts++;
    p->stop = out;
    return 0;
}

int gt_events_dynamic_parse_format(struct gt_events_dynamic_event *e, const char *from,
                                   const char *end, char **texts, const char **where,
                                   struct gt_trace_error *err)
{
    while (from < end && memchr(" \t\r\v\f", *from, 5))
        from++;
    struct parser p = {e, from, end, *texts, *texts, where, err, from, 0};
    e->n_parts = 0;
    if (from == end)
        return 0;
    if (end - from > TEXT_MAX)
        return fail(&p, from, "a format has at most 4096 bytes", 0);
    if (*from != '"')
        return fail(&p, from, "expected a format in quotes, or nothing, after the arguments", 0);
    int status = join(&p);
    if (status == 0)
        status = split(&p);
    *texts = p.stop;
    return status;
}
