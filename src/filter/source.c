/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of options, numbers and times in them: see source.h. */
#include "filter/source.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int gt_source_fail(const struct gt_filter_source *s, const char *at, int status, const char *format,
                   ...)
{
    char message[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    return gt_error_set(s->err, status, "%s %.100s%s: character %zu: %s", s->option, s->text,
                        strlen(s->text) > 100 ? "..." : "", (size_t)(at - s->text) + 1, message);
}

char *gt_span_copy(struct gt_filter_span span)
{
    char *copy = malloc(span.n + 1);
    if (!copy)
        return NULL;
    memcpy(copy, span.at, span.n);
    copy[span.n] = 0;
    return copy;
}

bool gt_span_is(struct gt_filter_span span, const char *word)
{
    return strlen(word) == span.n && strncasecmp(span.at, word, span.n) == 0;
}

struct gt_filter_span gt_span_after(struct gt_filter_span span, const char *prefix)
{
    size_t n = strlen(prefix);
    if (span.n < n || strncasecmp(span.at, prefix, n) != 0)
        return (struct gt_filter_span){NULL, 0};
    return (struct gt_filter_span){span.at + n, span.n - n};
}

struct gt_filter_span gt_span_until(struct gt_filter_span span, const char *stops, bool quotes)
{
    char quote = 0;
    unsigned brackets = 0;
    for (size_t i = 0; i < span.n; i++) {
        char c = span.at[i];
        if (c == '\\')
            i++;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (quotes && (c == '"' || c == '\''))
            quote = c;
        else if (c == '[')
            brackets++;
        else if (c == ']' && brackets)
            brackets--;
        else if (!brackets && strchr(stops, c))
            return (struct gt_filter_span){span.at, i};
    }
    return span;
}

bool gt_span_number(struct gt_filter_span span, uint64_t *out)
{
    char text[32];
    if (span.n >= sizeof text)
        return false;
    memcpy(text, span.at, span.n);
    text[span.n] = 0;
    return gt_number_parse(text, out) == 0;
}

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"", 1},
    {"ns", 1},
    {"nsec", 1},
    {"us", 1000},
    {"usec", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"s", 1000000000},
    {"sec", 1000000000},
    {"m", 60000000000},
    {"min", 60000000000},
    {"insn", 1},
};

/* "." DIGITS, as a part of the unit; returns the bytes taken. */
static size_t take_fraction(struct gt_filter_span span, uint64_t unit, uint64_t *out)
{
    size_t i = 1;
    *out = 0;
    if (span.n < 2 || span.at[0] != '.')
        return 0;
    for (; i < span.n && span.at[i] >= '0' && span.at[i] <= '9'; i++) {
        unit /= 10;
        *out += (uint64_t)(span.at[i] - '0') * unit;
    }
    return i;
}

bool gt_span_time(struct gt_filter_span span, uint64_t *out, bool *insns)
{
    size_t digits = 0, i = 0;
    uint64_t v, part, fraction;
    while (digits < span.n && span.at[digits] >= '0' && span.at[digits] <= '9')
        digits++;
    if (!digits || !gt_span_number((struct gt_filter_span){span.at, digits}, &v))
        return false;
    struct gt_filter_span rest = {span.at + digits, span.n - digits};
    size_t n = take_fraction(rest, 0, &part);
    struct gt_filter_span unit = {rest.at + n, rest.n - n};
    while (i < sizeof units / sizeof *units && !gt_span_is(unit, units[i].name))
        i++;
    if (i == sizeof units / sizeof *units || v > UINT64_MAX / units[i].ns)
        return false;
    take_fraction(rest, units[i].ns, &fraction);
    *out = v * units[i].ns;
    *out = *out > UINT64_MAX - fraction ? UINT64_MAX : *out + fraction;
    *insns = gt_span_is(unit, "insn");
    return true;
}
