/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the type of a wrong file, for messages: what it is, and the verb that reads it. */
#ifndef GT_RECORDING_FILE_KIND_H
#define GT_RECORDING_FILE_KIND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { GT_FILE_KIND_BYTES = 8 }; /* bytes that gt_file_kind needs */

/* Returns "an etrace stream", "an ELF file", ...; NULL: unknown, or text. */
const char *gt_file_kind(const void *first, size_t n);
/* "; read it with guesttrace VERB", or "": what a message says of such a file at its end. */
const char *gt_file_kind_hint(const void *first, size_t n);
/* True if all bytes may occur in a text; an empty file is a text. */
bool gt_file_kind_is_text(const void *bytes, size_t n);
/* The folder has tasks or their records. */
bool gt_file_kind_is_recording(const char *folder);
/* Of a file or folder that a reader refused as being of another kind: GT_E_FORMAT, "PATH: KIND,
 * expected EXPECTED; HINT". Where it is of a kind that `expected` begins with, *err stays: it is
 * damaged. */
int gt_file_kind_refuse(const char *path, const char *expected, struct gt_error *err);
/* The same of a file or stream that begins with n bytes, as far as they tell its kind; else 0. */
int gt_file_kind_check(const char *name, const void *first, size_t n, const char *expected,
                       struct gt_error *err);

#endif
