/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.found: see matches.h. */
#include "names/placement/matches.h"
#include "recording/texts/code_found.h"
#include "recording/texts/files.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define MAP_LIMIT   ((size_t)256 << 20)
#define FOUND_LIMIT ((size_t)16 << 20)

/* One line; what is not a line of the format, and functions that the module has not, are left out.
 */
static bool parse(const char *line, const struct gt_code_map *map, struct gt_match *out)
{
    uint64_t module, offset, function;
    struct gt_cursor rest;
    if (!gt_code_found_parse(line, &module, &offset, &rest) || module >= map->n_modules)
        return false;
    const struct gt_code_module *m = &map->module[module];
    *out = (struct gt_match){.module = (size_t)module, .offset = offset};
    out->seen = g_new(uint64_t, rest.left / 2 + 1);
    while (gt_code_found_next(&rest, &function))
        if (function < m->n)
            out->seen[out->n_seen++] = map->function[m->first + function].addr;
    return true;
}

void gt_matches_read(const char *dir, struct gt_matches *out)
{
    g_autofree char *map = g_build_filename(dir, GT_CODE_MAP_FILE, NULL);
    g_autofree char *found = g_build_filename(dir, GT_CODE_FOUND_FILE, NULL);
    gt_matches_read_files(map, found, out);
}

void gt_matches_read_files(const char *map, const char *found, struct gt_matches *out)
{
    char *text;
    size_t size;
    *out = (struct gt_matches){0};
    if (gt_file_read(map, MAP_LIMIT, &text, &size, NULL) < 0)
        return;
    int status = gt_code_map_read(text, size, &out->map, NULL);
    free(text);
    if (status < 0 || gt_file_read(found, FOUND_LIMIT, &text, &size, NULL) < 0)
        return;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    out->item = g_new(struct gt_match, g_strv_length(lines) + 1);
    for (char **line = lines; *line; line++)
        if (parse(*line, &out->map, &out->item[out->n]))
            out->n++;
    free(text);
}

bool gt_matches_is(const struct gt_matches *f, size_t item, const char *path)
{
    return strcmp(f->map.module[f->item[item].module].path, path) == 0;
}

void gt_matches_free(struct gt_matches *f)
{
    for (size_t i = 0; i < f->n; i++)
        g_free(f->item[i].seen);
    gt_code_map_free(&f->map);
    g_free(f->item);
    *f = (struct gt_matches){0};
}
