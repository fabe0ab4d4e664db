/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recognised code: see ran_code.h. */
#include "calls/file/ran_code.h"

#include "base/file.h"
#include "recording/code_map/code_map.h"
#include "recording/texts/code_found.h"
#include "recording/texts/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 256 << 20 };

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
    return gt_file_read(path, TEXT_LIMIT, text, size, NULL);
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

bool gt_compact_ran_code_is(const char *name)
{
    return strcmp(name, GT_CODE_MAP_FILE) == 0 || strcmp(name, GT_CODE_FOUND_FILE) == 0;
}

int gt_compact_ran_code_shorten(const char *dir, const char *name, struct gt_text *out)
{
    struct code c = {0};
    int status = read_both(dir, &c);
    if (status > 0)
        status = strcmp(name, GT_CODE_MAP_FILE) == 0 ? put_map(&c, out) : put_found(&c, out);
    clear(&c);
    return status;
}
