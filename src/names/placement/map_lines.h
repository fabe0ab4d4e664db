/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a session's map while it is being edited: new modules come first; of an older line
 * the parts remain that they do not cover.
 */
#ifndef GT_NAMES_PLACEMENT_MAP_LINES_H
#define GT_NAMES_PLACEMENT_MAP_LINES_H

#include "recording/directory/dir.h"

#include <glib.h>

/* Limits of a map that is read: bytes, lines. */
#define GT_MAP_LIMIT     ((size_t)16 << 20)
#define GT_MAP_LINES_MAX 4096
/* The suffix of the original of a recording's file that was replaced. */
#define GT_RECORDED_ENDING ".recorded"

struct gt_place_map_line {
    uint64_t start, end;
    char *path;
    char *build_id;
};

/* Returns an array of struct gt_place_map_line; free it with g_array_free. */
GArray *gt_place_map_lines_new(void);
void gt_place_map_lines_add(GArray *lines, uint64_t start, uint64_t end, const char *path,
                            const char *build_id);

/* Appends the pieces of the line that the first n_cuts lines do not cover. A piece at its beginning
 * keeps its name; other pieces are modules named NAME+0xOFFSET, or NAME+0xOFFSET-0xEND if they end
 * before the line does, so that a module of that name is the same in every session. The symbols of
 * such a piece, from tab (the line's own), are written to the directory; a piece without symbols is
 * left out. Errors of gt_uftrace_dir_put_symbols. */
int gt_place_map_lines_cut(GArray *lines, guint n_cuts, const struct gt_uftrace_mapping *line,
                           const struct gt_uftrace_symtab *tab, const struct gt_uftrace_dir *dir,
                           struct gt_error *err);
/* Replaces the session's map or, with GT_RECORDED_ENDING as `ending`, its original. Errors of
 * gt_uftrace_map_write and gt_file_replace_text. */
int gt_place_map_lines_put(const GArray *lines, const struct gt_uftrace_dir *dir, const char *sid,
                           const char *ending, struct gt_error *err);

/* Errors of gt_file_read and gt_uftrace_map_read; GT_E_RANGE: too many lines. */
int gt_place_map_read(const char *path, struct gt_uftrace_map *out, struct gt_error *err);
/* Reads the symbols of the map's module, from BASE.sym or BASE-XXXX.sym, whichever belongs to it. A
 * missing file is not an error: *out is empty then. */
void gt_place_map_find_symbols(const struct gt_uftrace_dir *dir, const char *module,
                               struct gt_uftrace_symtab *out);

#endif
