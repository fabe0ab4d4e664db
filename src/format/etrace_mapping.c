/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of mapped files: see etrace_mapping.h. */
#include "format/etrace_mapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char word[] = "mapping ";
static const char newline[] = "\\012";

enum { WORD = sizeof word - 1, NEWLINE = sizeof newline - 1 };

size_t gt_etrace_mapping_put(const struct gt_etrace_mapping *m, char out[GT_ETRACE_MAPPING_MAX])
{
    size_t n = (size_t)snprintf(out, GT_ETRACE_MAPPING_MAX,
                                "%s0x%" PRIx64 "-0x%" PRIx64 " 0x%" PRIx64 " %.40s ", word,
                                m->start, m->end, m->base, m->build_id[0] ? m->build_id : "-");
    for (size_t i = 0; i < sizeof m->path && m->path[i]; i++) {
        if (m->path[i] == '\n') {
            memcpy(out + n, newline, NEWLINE);
            n += NEWLINE;
        } else {
            out[n++] = m->path[i];
        }
    }
    out[n++] = '\n';
    return n;
}

/* What is left of the text. */
struct rest {
    const char *at;
    size_t n;
};

static bool take(struct rest *r, const char *what)
{
    size_t n = strlen(what);
    if (r->n < n || memcmp(r->at, what, n) != 0)
        return false;
    r->at += n;
    r->n -= n;
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_number(struct rest *r, uint64_t *out)
{
    size_t digits = 0;
    *out = 0;
    if (!take(r, "0x"))
        return false;
    for (int digit; digits < r->n && (digit = digit_of(r->at[digits])) >= 0; digits++) {
        if (*out >> 60)
            return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    r->at += digits;
    r->n -= digits;
    return digits > 0;
}

static bool take_build_id(struct rest *r, char out[41])
{
    const char *end = r->n ? memchr(r->at, ' ', r->n) : NULL;
    size_t n = end ? (size_t)(end - r->at) : 0;
    if (n == 0 || n > 40)
        return false;
    memcpy(out, r->at, n);
    out[n] = '\0';
    r->at += n;
    r->n -= n;
    if (strcmp(out, "-") == 0)
        out[0] = '\0';
    return true;
}

static bool take_path(struct rest *r, char out[GT_ETRACE_PATH_MAX])
{
    size_t n = 0;
    while (r->n) {
        if (n == GT_ETRACE_PATH_MAX - 1 || *r->at == '\0')
            return false;
        if (take(r, newline)) {
            out[n++] = '\n';
            continue;
        }
        out[n++] = *r->at++;
        r->n--;
    }
    out[n] = '\0';
    return n > 0;
}

bool gt_etrace_mapping_get(const char *text, size_t n, struct gt_etrace_mapping *out)
{
    struct rest r = {text, n};
    if (n && text[n - 1] == '\n')
        r.n--;
    return take(&r, word) && take_number(&r, &out->start) && take(&r, "-") &&
           take_number(&r, &out->end) && out->start < out->end && take(&r, " ") &&
           take_number(&r, &out->base) && take(&r, " ") && take_build_id(&r, out->build_id) &&
           take(&r, " ") && take_path(&r, out->path);
}
