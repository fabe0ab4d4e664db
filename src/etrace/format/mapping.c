/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of mapped files and counts of code: see mapping.h. */
#include "etrace/format/mapping.h"

#include "base/cursor.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char word[] = "mapping ";
static const char newline[] = "\\012";

enum { NEWLINE = sizeof newline - 1 };

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

/* As it is written: in lower case. */
static bool take_number(struct gt_text_cursor *c, uint64_t *out)
{
    return gt_text_take(c, "0x") && gt_text_take_lower_hex(c, UINT64_MAX, out);
}

static bool take_build_id(struct gt_text_cursor *c, char out[41])
{
    struct gt_text_cursor id;
    if (!gt_text_take_word(c, &id) || id.left > 40)
        return false;
    memcpy(out, id.at, id.left);
    out[id.left] = '\0';
    if (strcmp(out, "-") == 0)
        out[0] = '\0';
    return true;
}

static bool take_path(struct gt_text_cursor *c, char out[GT_ETRACE_PATH_MAX])
{
    size_t n = 0;
    while (c->left) {
        if (n == GT_ETRACE_PATH_MAX - 1 || *c->at == '\0')
            return false;
        if (gt_text_take(c, newline)) {
            out[n++] = '\n';
            continue;
        }
        out[n++] = *c->at++;
        c->left--;
    }
    out[n] = '\0';
    return n > 0;
}

bool gt_etrace_mapping_get(const char *text, size_t n, struct gt_etrace_mapping *out)
{
    struct gt_text_cursor c = {text, n && text[n - 1] == '\n' ? n - 1 : n};
    return gt_text_take(&c, word) && take_number(&c, &out->start) && gt_text_take(&c, "-") &&
           take_number(&c, &out->end) && out->start < out->end && gt_text_take(&c, " ") &&
           take_number(&c, &out->base) && gt_text_take(&c, " ") &&
           take_build_id(&c, out->build_id) && gt_text_take(&c, " ") && take_path(&c, out->path);
}

void gt_etrace_count_name(char name[GT_ETRACE_COUNT_NAME], uint64_t start, uint64_t end)
{
    char *at = gt_text_hex_put(stpcpy(name, "0x"), start);
    *gt_text_hex_put(stpcpy(at, "-0x"), end) = '\0';
}

/* "0x" and 1 to 16 hex digits of either case. */
static bool take_address(struct gt_text_cursor *c, uint64_t *out)
{
    enum { DIGITS = 16 };
    if (!gt_text_take(c, "0x"))
        return false;
    size_t before = c->left;
    return gt_text_take_hex(c, UINT64_MAX, out) && before - c->left <= DIGITS;
}

bool gt_etrace_count_parse(const char *name, uint64_t *start, uint64_t *end)
{
    struct gt_text_cursor c = {name, strlen(name)};
    return take_address(&c, start) && gt_text_take(&c, "-") && take_address(&c, end) && !c.left &&
           *start <= *end;
}
