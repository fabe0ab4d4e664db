/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sid-SID.map, one line a module:
 *   START-END r-xp 00000000 00:00 0 PATH [build-id:HEX]
 * and the [stack] line, from which readers conclude where kernel addresses begin.
 */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STACK_LINE "ffffffffffff-ffffffffffff rw-p 00000000 00:00 0 [stack]\n"
enum { BUILD_ID_MAX = 40 };

struct range {
    uint64_t start, end; /* 48 bits; end is exclusive */
    size_t index;
};

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The range after the cut to 48 bits; one that ends at the very top loses its last byte. */
static struct range cut(const struct gt_uftrace_mapping *m, size_t index)
{
    uint64_t end = m->end & GT_UFTRACE_ADDR_MASK;
    if (!end && m->end != m->start)
        end = GT_UFTRACE_ADDR_MASK;
    return (struct range){m->start & GT_UFTRACE_ADDR_MASK, end, index};
}

static int check(const struct gt_uftrace_mapping *map, size_t n, struct range *r,
                 struct gt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        r[i] = cut(&map[i], i);
        if (map[i].end - map[i].start > GT_UFTRACE_ADDR_MASK + 1 || r[i].start >= r[i].end)
            return gt_error_set(err, GT_E_RANGE, "map: %.200s: bad range %" PRIx64 "-%" PRIx64,
                                map[i].path, map[i].start, map[i].end);
    }
    qsort(r, n, sizeof *r, by_start);
    for (size_t i = 1; i < n; i++)
        if (r[i].start < r[i - 1].end)
            return gt_error_set(err, GT_E_RANGE, "map: %.100s at %" PRIx64 " overlaps %.100s",
                                map[r[i].index].path, r[i].start, map[r[i - 1].index].path);
    return 0;
}

int gt_uftrace_map_write(struct gt_text *t, const struct gt_uftrace_mapping *map, size_t n,
                         struct gt_error *err)
{
    struct range *r = calloc(n ? n : 1, sizeof *r);
    if (!r)
        return gt_error_set(err, GT_E_NOMEM, "map: out of memory");
    int status = check(map, n, r, err);
    free(r);
    if (status)
        return status;
    char path[GT_UFTRACE_PATH_MAX], before[GT_UFTRACE_PATH_MAX] = "";
    for (size_t i = 0; i < n; i++) {
        struct range c = cut(&map[i], i);
        gt_uftrace_path(map[i].path, path, sizeof path);
        if (!strcmp(path, before)) /* two lines of one path would be read as one module */
            return gt_error_set(err, GT_E_RANGE, "map: %.300s: twice in a row", path);
        memcpy(before, path, sizeof before);
        gt_text_printf(t, "%012" PRIx64 "-%012" PRIx64 " r-xp 00000000 00:00 0 %s", c.start, c.end,
                       path);
        const char *id = map[i].build_id;
        if (id && *id && strlen(id) <= BUILD_ID_MAX && gt_text_is_hex(id, strlen(id)))
            gt_text_printf(t, " build-id:%s", id);
        gt_text_add(t, "\n", 1);
    }
    gt_text_add(t, STACK_LINE, sizeof STACK_LINE - 1);
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "map: out of memory") : 0;
}

static bool take_spaces(struct gt_text_cursor *c)
{
    if (!gt_text_take(c, " "))
        return false;
    while (gt_text_take(c, " "))
        ;
    return true;
}

/* The fault of the line, or NULL. The path is left as a word, the build-id too. */
static const char *parse(struct gt_text_cursor *c, struct gt_uftrace_mapping *m,
                         struct gt_text_cursor *path, struct gt_text_cursor *id)
{
    uint64_t v;
    struct gt_text_cursor prot;
    if (!gt_text_take_hex(c, UINT64_MAX, &m->start) || !gt_text_take(c, "-") ||
        !gt_text_take_hex(c, UINT64_MAX, &m->end) || m->end < m->start)
        return "START-END";
    if (!take_spaces(c) || !gt_text_take_word(c, &prot) || prot.left != 4)
        return "four letters of protection";
    if (!take_spaces(c) || !gt_text_take_hex(c, UINT64_MAX, &v))
        return "a file offset";
    if (!take_spaces(c) || !gt_text_take_hex(c, UINT32_MAX, &v) || !gt_text_take(c, ":") ||
        !gt_text_take_hex(c, UINT32_MAX, &v))
        return "MAJOR:MINOR";
    if (!take_spaces(c) || !gt_text_take_dec(c, UINT64_MAX, &v))
        return "an inode";
    if (!c->left)
        return NULL;
    if (!take_spaces(c))
        return "a path";
    if (gt_text_take_word(c, path) && take_spaces(c) && gt_text_take(c, "build-id:") &&
        (!gt_text_take_word(c, id) || id->left > BUILD_ID_MAX || !gt_text_is_hex(id->at, id->left)))
        return "at most 40 hex digits of build-id";
    return c->left ? "the end of the line" : NULL;
}

/* Ends the word, which lies in our copy of the text, with a 0. */
static const char *finish(char *copy, const char *text, const struct gt_text_cursor *word)
{
    if (!word->at)
        return "";
    char *s = copy + (word->at - text);
    s[word->left] = 0;
    return s;
}

int gt_uftrace_map_read(const char *text, size_t size, struct gt_uftrace_map *out,
                        struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    char show[64];
    bool whole;
    struct gt_uftrace_map map = {0};
    char *copy = map.storage = gt_text_copy_lines(text, size);
    map.line = calloc(gt_text_count_lines(text, size) + 1, sizeof *map.line);
    int status = copy && map.line ? 0 : gt_error_set(err, GT_E_NOMEM, "map: out of memory");
    for (size_t number = 1; !status && gt_text_take_line(&all, &line, &whole); number++) {
        struct gt_text_cursor c = line, path = {0}, id = {0};
        struct gt_uftrace_mapping *m = &map.line[map.n];
        const char *expected = whole ? parse(&c, m, &path, &id) : "a whole line";
        if (!expected && memchr(line.at, 0, line.left))
            expected = "no zero byte";
        if (expected) {
            status = gt_error_set(err, whole ? GT_E_FORMAT : GT_E_TRUNC,
                                  "map line %zu: '%s': expected %s", number,
                                  gt_text_cursor_show(&line, show), expected);
        } else if (path.left && *path.at == '[') {
            map.has_stack |= gt_text_take(&path, "[stack");
        } else if (path.left) {
            m->path = finish(copy, text, &path);
            m->build_id = finish(copy, text, &id);
            map.n++;
        }
    }
    if (status)
        gt_uftrace_map_free(&map);
    else
        *out = map;
    return status;
}

void gt_uftrace_map_free(struct gt_uftrace_map *map)
{
    free(map->line);
    free(map->storage);
    *map = (struct gt_uftrace_map){0};
}
