/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the type of a file: what it is, and the verb that reads it. Messages about a wrong file
 * are made here. */
#ifndef GT_RECORDING_FILE_KIND_H
#define GT_RECORDING_FILE_KIND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { GT_FILE_KIND_BYTES = 8 }; /* bytes that gt_recording_kind needs */

enum gt_recording_kind {
    GT_FILE_UNKNOWN,
    GT_FILE_EMPTY,
    GT_FILE_TEXT,
    GT_FILE_LOG, /* an execlog log, as text */
    GT_FILE_ETRACE,
    GT_FILE_EXECLOG, /* in binary form */
    GT_FILE_CALLS,   /* in one file */
    GT_FILE_SIMPLETRACE,
    GT_FILE_ELF,
    GT_FILE_GZIP,
    GT_FILE_ZSTD,
    GT_FILE_XZ,
    GT_FILE_DIRECTORY, /* of uftrace: a recording of calls */
    GT_FILE_FOLDER,    /* any other */
    GT_FILE_KINDS
};

/* Kinds that a reader reads: one, or several with |. */
#define GT_FILE_IS(kind) (1U << (kind))

/* What begins with these n bytes; of a pipe or a file that is cut more may follow. */
enum gt_recording_kind gt_recording_kind(const void *first, size_t n);
/* The same of a regular file or a folder; GT_FILE_UNKNOWN: also of others, which are not opened. */
enum gt_recording_kind gt_recording_kind_at(const char *path);
/* True if all bytes may occur in a text; an empty file is a text. */
bool gt_recording_kind_is_text(const void *bytes, size_t n);
/* The folder has tasks or their records. */
bool gt_recording_kind_is_recording(const char *folder);

/* Of a file or folder that a reader refused: GT_E_FORMAT, "PATH: KIND, expected EXPECTED; HINT".
 * Where it is of a kind that the reader `reads`, *err stays: it is damaged. */
int gt_recording_kind_refuse(const char *path, unsigned reads, const char *expected,
                             struct gt_error *err);
/* The same of a file or stream that begins with n bytes, as far as they tell its kind; else 0. */
int gt_recording_kind_check(const char *name, const void *first, size_t n, unsigned reads,
                            const char *expected, struct gt_error *err);
/* Refuses a file or folder that is known to be of another kind, before a reader opens it; else 0.
 */
int gt_recording_kind_check_at(const char *path, unsigned reads, const char *expected,
                               struct gt_error *err);

#endif
