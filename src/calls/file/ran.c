/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of functions that ran: see ran.h. */
#include "calls/file/ran.h"

#include "base/array.h"
#include "calls/file/parts.h"
#include "calls/file/ran_code.h"
#include "calls/file/set.h"

#include "base/cursor.h"
#include "base/file.h"
#include "base/search.h"
#include "recording/directory/uftrace.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 64 << 20 };

struct word {
    uint64_t addr;
};

/* Where a module was. */
struct place {
    uint64_t start, end;
    char *path;
};

struct gt_compact_ran {
    char *dir;
    struct word *word; /* sorted */
    size_t n, room;
    struct place *place;
    size_t n_places, places_room;
};

/* ---- what ran ------------------------------------------------------------------------------ */

static int add_address(struct gt_compact_ran *r, uint64_t addr)
{
    if (!GT_ARRAY_GROW(&r->word, &r->room, r->n + 1))
        return GT_E_NOMEM;
    r->word[r->n++].addr = addr;
    return 0;
}

/* A word is a function's address, an event's id, or a whole word of a record that fits no stack,
 * which has its address in its upper bits. A word without an address can at worst keep one symbol
 * too many. */
static int add_word(void *self, uint64_t word)
{
    int status = add_address(self, word);
    return status < 0 ? status : add_address(self, word >> 16);
}

static int compare(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* ---- where it was -------------------------------------------------------------------------- */

static int add_place(struct gt_compact_ran *r, uint64_t start, uint64_t end, const char *path)
{
    if (!GT_ARRAY_GROW(&r->place, &r->places_room, r->n_places + 1))
        return GT_E_NOMEM;
    char *copy = strdup(path);
    if (!copy)
        return GT_E_NOMEM;
    r->place[r->n_places++] = (struct place){start, end, copy};
    return 0;
}

static int add_map(struct gt_compact_ran *r, const char *text, size_t size)
{
    struct gt_uftrace_map map;
    int status = gt_uftrace_map_read(text, size, &map, NULL);
    if (status < 0) /* one that is damaged names nothing */
        return status == GT_E_NOMEM ? status : 0;
    for (size_t i = 0; i < map.n && status == 0; i++)
        status = add_place(r, map.line[i].start, map.line[i].end, map.line[i].path);
    gt_uftrace_map_free(&map);
    return status;
}

static int add_libraries(struct gt_compact_ran *r, const char *text, size_t size)
{
    struct gt_text_cursor all = {text, size}, line;
    struct gt_uftrace_task task;
    bool whole;
    int status = 0;
    while (status == 0 && gt_text_take_line(&all, &line, &whole))
        if (gt_uftrace_task_read(line.at, line.left, &task, NULL) == 0 &&
            task.kind == GT_UFTRACE_DLOP)
            status = add_place(r, task.base, UINT64_MAX, task.path);
    return status;
}

static int read_places(struct gt_compact_ran *r, const char *name)
{
    bool map = strncmp(name, "sid-", 4) == 0 && strstr(name, ".map"),
         tasks = strncmp(name, "task.txt", 8) == 0;
    char path[4096 + 300], *text;
    size_t size;
    if (!map && !tasks)
        return 0;
    snprintf(path, sizeof path, "%s/%s", r->dir, name);
    if (gt_file_read(path, TEXT_LIMIT, &text, &size, NULL) < 0)
        return 0;
    int status = map ? add_map(r, text, size) : add_libraries(r, text, size);
    free(text);
    return status;
}

static int read_all_places(struct gt_compact_ran *r)
{
    struct dirent **list;
    int status = 0, n = scandir(r->dir, &list, NULL, NULL);
    for (int i = 0; i < n; i++) {
        if (status == 0)
            status = read_places(r, list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return status;
}

/* Without the directory meanwhile: there may be few descriptors. The newest part of a set has the
 * names of all. */
static int read_words(struct gt_compact_ran *r, const char *path, struct gt_error *err)
{
    struct gt_compact_file f;
    int status = gt_compact_set_open(path, &f, err);
    if (status < 0)
        return status;
    status = gt_compact_file_words(&f, add_word, r, err);
    gt_compact_file_close(&f);
    return status;
}

int gt_compact_ran_read(const char *path, const char *dir, struct gt_compact_ran **out,
                        struct gt_error *err)
{
    struct gt_compact_ran *r = calloc(1, sizeof *r);
    int status = r && (r->dir = strdup(dir)) ? 0 : GT_E_NOMEM;
    if (status == 0)
        status = read_words(r, path, err);
    if (status == 0)
        status = read_all_places(r);
    if (status == 0 && r->n)
        qsort(r->word, r->n, sizeof *r->word, compare);
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", path);
    if (status < 0) {
        gt_compact_ran_free(r);
        r = NULL;
    }
    *out = r;
    return status;
}

void gt_compact_ran_free(struct gt_compact_ran *r)
{
    for (size_t i = 0; r && i < r->n_places; i++)
        free(r->place[i].path);
    if (r) {
        free(r->place);
        free(r->word);
        free(r->dir);
    }
    free(r);
}

/* ---- shortening ---------------------------------------------------------------------------- */

/* Where nothing says where the last symbol ends, it goes on to the module's end. */
static void end_last(struct gt_uftrace_symtab *tab)
{
    if (tab->n && tab->sym[tab->n - 1].size == 0)
        tab->sym[tab->n - 1].size = UINT32_MAX;
}

/* Marks the symbols that a place's addresses are in; true where there were such addresses. */
static bool mark(const struct gt_compact_ran *r, const struct place *p,
                 const struct gt_uftrace_symtab *tab, bool *ran)
{
    size_t first = GT_SEARCH_BELOW(r->word, r->n, addr, p->start), i = first;
    for (; i < r->n && r->word[i].addr < p->end; i++) {
        const struct gt_uftrace_symbol *s = gt_uftrace_symtab_find(tab, r->word[i].addr - p->start);
        if (s)
            ran[s - tab->sym] = true;
    }
    return i > first;
}

/* Keeps what ran, of a module's symbols: 1. 0: it is not known where it was. */
static int keep(const struct gt_compact_ran *r, struct gt_uftrace_symtab *tab)
{
    bool placed = false, called = false;
    bool *ran = calloc(tab->n + 1, sizeof *ran);
    size_t n = 0;
    if (!ran)
        return GT_E_NOMEM;
    end_last(tab);
    for (size_t i = 0; i < r->n_places; i++) {
        if (strcmp(r->place[i].path, tab->path) != 0)
            continue;
        placed = true;
        called |= mark(r, &r->place[i], tab, ran);
    }
    for (size_t i = 0; i < tab->n && placed; i++)
        if (ran[i])
            tab->sym[n++] = tab->sym[i];
    free(ran);
    if (!placed || (called && n == 0)) /* addresses of another kind */
        return 0;
    tab->n = n;
    return 1;
}

/* The symbols of `text` that ran: 1, 0 or GT_E_NOMEM; after 1 the caller frees *tab. */
static int read_symbols(const struct gt_compact_ran *r, const char *text, size_t size,
                        struct gt_uftrace_symtab *tab)
{
    int status = gt_uftrace_sym_read(text, size, tab, NULL);
    if (status < 0)
        return status == GT_E_NOMEM ? status : 0;
    status = tab->path[0] ? keep(r, tab) : 0;
    if (status <= 0)
        gt_uftrace_symtab_free(tab);
    return status;
}

static int shorten_symbols(const struct gt_compact_ran *r, const char *text, size_t size,
                           struct gt_text *out)
{
    struct gt_uftrace_symtab tab;
    int status = read_symbols(r, text, size, &tab);
    if (status <= 0)
        return status;
    const struct gt_uftrace_module m = {tab.path, tab.build_id};
    status = gt_uftrace_sym_write(out, &m, tab.sym, tab.n, NULL);
    gt_uftrace_symtab_free(&tab);
    return status < 0 ? status : 1;
}

static bool has_symbol(const struct gt_uftrace_symtab *tab, uint64_t addr)
{
    size_t i = GT_SEARCH_BELOW(tab->sym, tab->n, addr, addr);
    return i < tab->n && tab->sym[i].addr == addr;
}

/* Functions that ran, with what belongs to them. */
static void keep_lines(struct gt_uftrace_dbginfo *info, const struct gt_uftrace_symtab *tab)
{
    size_t n = 0;
    bool ran = true; /* what comes before the first function */
    for (size_t i = 0; i < info->n; i++) {
        if (info->item[i].kind == GT_UFTRACE_DBG_FUNC)
            ran = has_symbol(tab, info->item[i].addr);
        if (ran)
            info->item[n++] = info->item[i];
    }
    info->n = n;
}

static int shorten_lines(const struct gt_compact_ran *r, const char *name, const char *text,
                         size_t size, struct gt_text *out)
{
    struct gt_uftrace_symtab tab;
    struct gt_uftrace_dbginfo info;
    char path[4096 + 300], *symbols;
    size_t n;
    snprintf(path, sizeof path, "%s/%.*s.sym", r->dir, (int)(strlen(name) - 4), name);
    if (gt_uftrace_dbg_read(text, size, &info, NULL) < 0)
        return 0;
    int status = gt_file_read(path, TEXT_LIMIT, &symbols, &n, NULL) < 0 ? 0 : 1;
    if (status > 0) {
        status = read_symbols(r, symbols, n, &tab);
        free(symbols);
    }
    if (status > 0) {
        keep_lines(&info, &tab);
        const struct gt_uftrace_module m = {info.path, info.build_id};
        status = gt_uftrace_dbg_write(out, &m, info.item, info.n, NULL) < 0 ? GT_E_NOMEM : 1;
        gt_uftrace_symtab_free(&tab);
    }
    gt_uftrace_dbginfo_free(&info);
    return status;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

int gt_compact_ran_shorten(const struct gt_compact_ran *r, const char *name, const char *text,
                           size_t size, struct gt_text *out)
{
    if (ends_with(name, ".sym"))
        return shorten_symbols(r, text, size, out);
    if (ends_with(name, ".dbg"))
        return shorten_lines(r, name, text, size, out);
    if (gt_compact_ran_code_is(name))
        return gt_compact_ran_code_shorten(r->dir, name, out);
    return 0;
}
