/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a session's map while they are put together: modules that are new go first; of a
 * line that was there before remains what they do not cover.
 */
#ifndef GT_ANALYSIS_PLACEMENT_MAP_LINES_H
#define GT_ANALYSIS_PLACEMENT_MAP_LINES_H

#include "format/uftrace/dir.h"

#include <glib.h>

/* Of a map that is read: bytes, lines. */
#define GT_MAP_LIMIT     ((size_t)16 << 20)
#define GT_MAP_LINES_MAX 4096
/* What is put behind the name of a file of the recording that was replaced: the file as it was. */
#define GT_RECORDED_ENDING ".recorded"

struct gt_map_line {
    uint64_t start, end;
    char *path;
    char *build_id;
};

/* An array of struct gt_map_line, to be given to g_array_free. */
GArray *gt_map_lines_new(void);
void gt_map_lines_add(GArray *lines, uint64_t start, uint64_t end, const char *path,
                      const char *build_id);

/* Appends the pieces of the line that the first n_cuts lines do not cover. The piece at its
 * beginning keeps its name; a further one is a module called NAME+0xOFFSET, or NAME+0xOFFSET-0xEND
 * where it ends before the line does, so that one of that name is the same in every session. Its
 * symbols, those of tab (the line's own), are written into the directory; it is left out where
 * there are none. Errors of gt_uftrace_dir_put_symbols. */
int gt_map_lines_cut(GArray *lines, guint n_cuts, const struct gt_uftrace_mapping *line,
                     const struct gt_uftrace_symtab *tab, const struct gt_uftrace_dir *dir,
                     struct gt_error *err);
/* Replaces the session's map, or with GT_RECORDED_ENDING behind its name what it was. Errors of
 * gt_uftrace_map_write and gt_file_replace_text. */
int gt_map_lines_put(const GArray *lines, const struct gt_uftrace_dir *dir, const char *sid,
                     const char *ending, struct gt_error *err);

/* Errors of gt_file_read and gt_uftrace_map_read; GT_E_RANGE: too many lines. */
int gt_map_read(const char *path, struct gt_uftrace_map *out, struct gt_error *err);
/* The symbols of the map's module: of BASE.sym or BASE-XXXX.sym, whichever is its own. None is no
 * error: there are no names then. */
void gt_map_find_symbols(const struct gt_uftrace_dir *dir, const char *module,
                         struct gt_uftrace_symtab *out);

#endif
