/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code bytes of a source, by link address. */
#ifndef GT_NAMES_IMAGE_CODE_BYTES_H
#define GT_NAMES_IMAGE_CODE_BYTES_H

#include "names/image/symbol_source.h"

struct gt_code_bytes;

/* Opens the code of an ELF file or a kernel. NULL: the code is not available (a module that is not
 * loaded, a text file, a file that cannot be read any more). Close it with gt_code_bytes_close
 * before the source is cleared. */
struct gt_code_bytes *gt_code_bytes_open(const struct gt_symbol_source *source);
/* Returns n bytes, valid until the close; NULL: the file does not have all of them. */
const uint8_t *gt_code_bytes_at(const struct gt_code_bytes *c, uint64_t addr, size_t n);
/* NULL is fine. */
void gt_code_bytes_close(struct gt_code_bytes *c);

#endif
