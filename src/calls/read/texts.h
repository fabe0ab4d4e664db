/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text files of a recording, wherever they are: files of a directory, or blocks of a compact
 * file, or, while this is recorded, files of the directory beside it. Reading them changes nothing
 * here: any thread may.
 */
#ifndef GT_CALLS_READ_TEXTS_H
#define GT_CALLS_READ_TEXTS_H

#include "base/error.h"
#include "calls/file/file.h"

#include <glib.h>

struct gt_calls_texts {
    const char *path;                   /* of the directory or the file; the owner's */
    const struct gt_compact_file *file; /* NULL: a directory */
    char *beside;                       /* a file's directory, which is `path` then; NULL: none */
    GPtrArray *names;                   /* of all, sorted; without those that begin with a dot */
    GHashTable *block;                  /* file: name to the number of its last block, from 1 */
};

/* Lists the files. `file` is NULL for a directory. A block of a file that is damaged is reported:
 * an earlier one of its name has its place, or nothing. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_calls_texts_open(struct gt_calls_texts *t, const char *path,
                        const struct gt_compact_file *file, const struct gt_error_notices *notices,
                        struct gt_error *err);
void gt_calls_texts_close(struct gt_calls_texts *t); /* { 0 } is fine */
/* True where there is a file of that name. */
bool gt_calls_texts_have(const struct gt_calls_texts *t, const char *name);
/* Its contents; (*data)[*size] is 0, the caller frees them. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM,
 * GT_E_RANGE, GT_E_FORMAT. */
int gt_calls_texts_read(const struct gt_calls_texts *t, const char *name, char **data, size_t *size,
                        struct gt_error *err);
/* Where a text is, for messages: "PATH/NAME" or "PATH: NAME"; the caller frees it. */
char *gt_calls_texts_place(const struct gt_calls_texts *t, const char *name);

#endif
