/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of functions that ran: see ran.h. */
#include "calls/file/ran.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/search.h"
#include "base/text.h"
#include "calls/file/parts.h"
#include "calls/file/set.h"
#include "recording/code_map/code_map.h"
#include "recording/directory/uftrace.h"
#include "recording/texts/code_found.h"
#include "recording/texts/files.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- code.map and code.found ---------------------------------------------------------------- */

/*
 * code.map and code.found after the run. The map has all functions of a
 * kernel, so that the plugin can recognise them; readers need only where the modules came from, and
 * the functions that code.found names. Both are made shorter together: code.found's numbers of
 * functions are indexes of the map.
 */

enum { CODE_LIMIT = 256 << 20 };

/* Both files, and which functions of the map the other one names. */
struct code {
    struct gt_recording_code_map map;
    char *found;    /* lines, each ended by a NUL; NULL: there is no such file */
    size_t size;    /* of them */
    size_t *number; /* by function: 1 + its index in the module's shorter list; 0: it goes */
};

static int read_file(const char *dir, const char *name, char **text, size_t *size)
{
    char path[4096 + 300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return gt_file_read(path, CODE_LIMIT, text, size, NULL);
}

/* The index of a function in the map; SIZE_MAX: it has none. */
static size_t function_at(const struct gt_recording_code_map *map, uint64_t module,
                          uint64_t function)
{
    if (module >= map->n_modules || function >= map->module[module].n)
        return SIZE_MAX;
    return map->module[module].first + (size_t)function;
}

static void mark_line(struct code *c, const char *line)
{
    uint64_t module, offset, function;
    struct gt_text_cursor rest;
    if (!gt_recording_code_found_parse(line, &module, &offset, &rest))
        return;
    while (gt_recording_code_found_next(&rest, &function)) {
        size_t i = function_at(&c->map, module, function);
        if (i != SIZE_MAX)
            c->number[i] = 1;
    }
}

static void number_functions(struct code *c)
{
    for (size_t m = 0; m < c->map.n_modules; m++) {
        const struct gt_recording_code_module *module = &c->map.module[m];
        size_t n = 0;
        for (size_t i = module->first; i < module->first + module->n; i++)
            if (c->number[i])
                c->number[i] = ++n;
    }
}

static void clear(struct code *c)
{
    gt_recording_code_map_free(&c->map);
    free(c->found);
    free(c->number);
}

/* 1, or 0: it is not known what can go. */
static int read_both(const char *dir, struct code *c)
{
    char *text, *found;
    size_t size, n;
    if (read_file(dir, GT_CODE_MAP_FILE, &text, &size) < 0)
        return 0;
    int status = gt_recording_code_map_read(text, size, &c->map, NULL);
    free(text);
    if (status < 0)
        return status == GT_E_NOMEM ? status : 0;
    if (read_file(dir, GT_CODE_FOUND_FILE, &found, &n) == 0) {
        c->found = gt_text_copy_lines(found, n);
        c->size = n;
        free(found);
    }
    c->number = calloc(c->map.n_functions + 1, sizeof *c->number);
    if (!c->number)
        return GT_E_NOMEM;
    for (size_t at = 0; c->found && at < c->size; at += strlen(c->found + at) + 1)
        mark_line(c, c->found + at);
    number_functions(c);
    return 1;
}

static int put_map(const struct code *c, struct gt_text *out)
{
    struct gt_recording_code_map less = c->map;
    less.module = calloc(less.n_modules + 1, sizeof *less.module);
    less.function = calloc(less.n_functions + 1, sizeof *less.function);
    less.n_functions = 0;
    bool made = less.module && less.function;
    for (size_t m = 0; made && m < less.n_modules; m++) {
        const struct gt_recording_code_module *from = &c->map.module[m];
        less.module[m] = *from;
        less.module[m].first = less.n_functions;
        for (size_t i = from->first; i < from->first + from->n; i++)
            if (c->number[i]) {
                const struct gt_recording_code_function *f = &c->map.function[i];
                less.function[less.n_functions++] = (struct gt_recording_code_function){
                    .addr = f->addr, .size = f->size, .name = f->name};
            }
        less.module[m].n = less.n_functions - less.module[m].first;
    }
    int status = made && gt_recording_code_map_write(out, &less, NULL) == 0 ? 1 : GT_E_NOMEM;
    free(less.module);
    free(less.function);
    return status;
}

static void put_line(const struct code *c, const char *line, struct gt_text *out)
{
    uint64_t module, offset, function;
    struct gt_text_cursor rest;
    if (!gt_recording_code_found_parse(line, &module, &offset, &rest))
        return;
    gt_recording_code_found_begin(out, (size_t)module, offset);
    while (gt_recording_code_found_next(&rest, &function)) {
        size_t i = function_at(&c->map, module, function);
        if (i != SIZE_MAX)
            gt_recording_code_found_function(out, c->number[i] - 1);
    }
    gt_recording_code_found_end(out);
}

static int put_found(const struct code *c, struct gt_text *out)
{
    for (size_t at = 0; c->found && at < c->size; at += strlen(c->found + at) + 1)
        put_line(c, c->found + at, out);
    return out->failed ? GT_E_NOMEM : c->found ? 1 : 0;
}

/* one of the two */
static bool is_code(const char *name)
{
    return strcmp(name, GT_CODE_MAP_FILE) == 0 || strcmp(name, GT_CODE_FOUND_FILE) == 0;
}

/* 1: `out` has the rest of the directory's file; 0: it is to be kept as it is. GT_E_NOMEM. */
static int shorten_code(const char *dir, const char *name, struct gt_text *out)
{
    struct code c = {0};
    int status = read_both(dir, &c);
    if (status > 0)
        status = strcmp(name, GT_CODE_MAP_FILE) == 0 ? put_map(&c, out) : put_found(&c, out);
    clear(&c);
    return status;
}

/* ---- texts ---------------------------------------------------------------------------------- */

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
    if (is_code(name))
        return shorten_code(r->dir, name, out);
    return 0;
}
