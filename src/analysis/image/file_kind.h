/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file is that was given in place of another, by its first bytes: for messages. */
#ifndef GT_ANALYSIS_IMAGE_FILE_KIND_H
#define GT_ANALYSIS_IMAGE_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum { GT_IMAGE_FILE_KIND_BYTES = 8 }; /* as many are enough */

/* "an etrace stream", "an ELF file", ...; NULL: nothing that we know. Text is none of them. */
const char *gt_image_file_kind(const void *first, size_t n);
/* No byte is one that a text does not have. Nothing at all is a text. */
bool gt_image_file_is_text(const void *bytes, size_t n);

#endif
