/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the type of a wrong file by its first bytes, for messages. */
#ifndef GT_ANALYSIS_IMAGE_FILE_KIND_H
#define GT_ANALYSIS_IMAGE_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum { GT_IMAGE_FILE_KIND_BYTES = 8 }; /* bytes that gt_image_file_kind needs */

/* Returns "an etrace stream", "an ELF file", ...; NULL: unknown, or text. */
const char *gt_image_file_kind(const void *first, size_t n);
/* "; read it with guesttrace VERB", or "": what a message says of such a file at its end. */
const char *gt_image_file_hint(const void *first, size_t n);
/* True if all bytes may occur in a text; an empty file is a text. */
bool gt_image_file_is_text(const void *bytes, size_t n);

#endif
