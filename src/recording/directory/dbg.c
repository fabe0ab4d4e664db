/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAME.dbg:
 *   # path name: P
 *   # build-id: H
 *   E: enum NAME {A=0,B=1}
 *   F: <hex relative address> name
 *   L: line file
 *   # lines: 10-20,30
 *   A: @arg1/s,arg2
 *   R: @retval
 * L, A and R belong to the F before them. The comment after L is ours: all lines of the function.
 */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES "# lines: "

static int check(const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err)
{
    bool in_function = false;
    for (size_t i = 0; i < n; i++) {
        in_function |= item[i].kind == GT_UFTRACE_DBG_FUNC;
        if (!in_function && item[i].kind != GT_UFTRACE_DBG_ENUM)
            return gt_error_set(err, GT_E_USAGE, "debug info: '%.100s' comes before any function",
                                item[i].text);
    }
    return 0;
}

int gt_uftrace_dbg_write(struct gt_text *t, const struct gt_uftrace_module *module,
                         const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err)
{
    static const char letter[] = "FLARE";
    int status = check(item, n, err);
    if (status)
        return status;
    char path[GT_UFTRACE_PATH_MAX];
    gt_uftrace_path(module->path, path, sizeof path);
    gt_text_printf(t, "# path name: %s\n", path);
    const char *id = module->build_id;
    if (id && *id && strlen(id) <= 40 && gt_text_is_hex(id, strlen(id)))
        gt_text_printf(t, "# build-id: %s\n", id);
    for (size_t i = 0; i < n; i++) {
        gt_text_printf(t, "%c: ", letter[item[i].kind]);
        if (item[i].kind == GT_UFTRACE_DBG_FUNC)
            gt_text_printf(t, "%" PRIx64 " ", item[i].addr);
        else if (item[i].kind == GT_UFTRACE_DBG_LINE)
            gt_text_printf(t, "%" PRIu32 " ", item[i].line);
        gt_text_add_value(t, item[i].text, SIZE_MAX);
        gt_text_add(t, "\n", 1);
        if (item[i].kind == GT_UFTRACE_DBG_LINE && item[i].lines)
            gt_text_printf(t, LINES "%s\n", item[i].lines);
    }
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "debug info: out of memory") : 0;
}

/* The fault of the line, or NULL; *c is left at the item's text. */
static const char *parse(struct gt_text_cursor *c, struct gt_uftrace_dbg *item)
{
    uint64_t line = 0;
    if (memchr(c->at, 0, c->left))
        return "no zero byte";
    if (gt_text_take(c, "F: ")) {
        item->kind = GT_UFTRACE_DBG_FUNC;
        if (!gt_text_take_hex(c, UINT64_MAX, &item->addr) || !gt_text_take(c, " "))
            return "a hex address and a name";
    } else if (gt_text_take(c, "L: ")) {
        item->kind = GT_UFTRACE_DBG_LINE;
        if (!gt_text_take_dec(c, UINT32_MAX, &line) || !gt_text_take(c, " "))
            return "a line number and a file";
        item->line = (uint32_t)line;
    } else if (gt_text_take(c, "A: ")) {
        item->kind = GT_UFTRACE_DBG_ARGS;
    } else if (gt_text_take(c, "R: ")) {
        item->kind = GT_UFTRACE_DBG_RET;
    } else if (gt_text_take(c, "E: ")) {
        item->kind = GT_UFTRACE_DBG_ENUM;
    } else {
        return "F:, L:, A:, R: or E:";
    }
    return NULL;
}

static void take_lines(struct gt_uftrace_dbginfo *dbg, const char *lines)
{
    if (dbg->n && dbg->item[dbg->n - 1].kind == GT_UFTRACE_DBG_LINE)
        dbg->item[dbg->n - 1].lines = lines;
}

int gt_uftrace_dbg_read(const char *text, size_t size, struct gt_uftrace_dbginfo *out,
                        struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    char show[64];
    bool whole;
    struct gt_uftrace_dbginfo dbg = {0};
    char *copy = dbg.storage = gt_text_copy_lines(text, size);
    dbg.item = calloc(gt_text_count_lines(text, size) + 1, sizeof *dbg.item);
    int status = copy && dbg.item ? 0 : gt_error_set(err, GT_E_NOMEM, "debug info: out of memory");
    if (!status)
        dbg.path = dbg.build_id = copy + size;
    bool in_function = false;
    for (size_t number = 1; !status && gt_text_take_line(&all, &line, &whole); number++) {
        struct gt_text_cursor c = line;
        struct gt_uftrace_dbg item = {0};
        const char *expected = NULL;
        if (!whole)
            expected = "a whole line";
        else if (gt_text_take(&c, "# path name: "))
            dbg.path = copy + (c.at - text);
        else if (gt_text_take(&c, "# build-id: "))
            dbg.build_id = copy + (c.at - text);
        else if (gt_text_take(&c, LINES))
            take_lines(&dbg, copy + (c.at - text));
        else if (!gt_text_take(&c, "#") && !(expected = parse(&c, &item))) {
            in_function |= item.kind == GT_UFTRACE_DBG_FUNC;
            if (!in_function && item.kind != GT_UFTRACE_DBG_ENUM)
                expected = "F: before it";
            item.text = copy + (c.at - text);
            dbg.item[dbg.n++] = item;
        }
        if (expected)
            status = gt_error_set(err, whole ? GT_E_FORMAT : GT_E_TRUNC,
                                  "debug info line %zu: '%s': expected %s", number,
                                  gt_text_cursor_show(&line, show), expected);
    }
    if (status)
        gt_uftrace_dbginfo_free(&dbg);
    else
        *out = dbg;
    return status;
}

void gt_uftrace_dbginfo_free(struct gt_uftrace_dbginfo *dbg)
{
    free(dbg->item);
    free(dbg->storage);
    *dbg = (struct gt_uftrace_dbginfo){0};
}
