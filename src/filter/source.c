/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of options, numbers and times in them: see source.h. */
#include "filter/source.h"

#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int gt_filter_source_fail(const struct gt_filter_source *s, const char *at, int status,
                          const char *format, ...)
{
    char message[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    return gt_error_set(s->err, status, "%s %.100s%s: character %zu: %s", s->option, s->text,
                        strlen(s->text) > 100 ? "..." : "", (size_t)(at - s->text) + 1, message);
}

char *gt_filter_span_copy(struct gt_filter_span span)
{
    char *copy = malloc(span.n + 1);
    if (!copy)
        return NULL;
    memcpy(copy, span.at, span.n);
    copy[span.n] = 0;
    return copy;
}

bool gt_filter_span_is(struct gt_filter_span span, const char *word)
{
    return strlen(word) == span.n && strncasecmp(span.at, word, span.n) == 0;
}

struct gt_filter_span gt_filter_span_after(struct gt_filter_span span, const char *prefix)
{
    size_t n = strlen(prefix);
    if (span.n < n || strncasecmp(span.at, prefix, n) != 0)
        return (struct gt_filter_span){NULL, 0};
    return (struct gt_filter_span){span.at + n, span.n - n};
}

struct gt_filter_span gt_filter_span_until(struct gt_filter_span span, const char *stops,
                                           bool quotes)
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

bool gt_filter_span_number(struct gt_filter_span span, uint64_t *out)
{
    char text[32];
    if (span.n >= sizeof text)
        return false;
    memcpy(text, span.at, span.n);
    text[span.n] = 0;
    return gt_text_number_parse(text, out) == 0;
}

bool gt_filter_span_time(struct gt_filter_span span, uint64_t *out, bool *insns)
{
    int kind = gt_text_quantity_parse(
        span.at, span.n, GT_QUANTITY_NUMBER | GT_QUANTITY_TIME | GT_QUANTITY_INSNS, out);
    *insns = kind == GT_QUANTITY_INSNS;
    return kind > 0;
}
