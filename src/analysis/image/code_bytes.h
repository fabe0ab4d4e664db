/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source's code, as bytes by link address. */
#ifndef GT_ANALYSIS_IMAGE_CODE_BYTES_H
#define GT_ANALYSIS_IMAGE_CODE_BYTES_H

#include "analysis/image/symbol_source.h"

struct gt_code_bytes;

/* The bytes of an ELF file's or a kernel's code. NULL: there are none to be had (a module before it
 * is loaded, a text file, a file that cannot be read any more). To be given to gt_code_bytes_close,
 * before the source is cleared. */
struct gt_code_bytes *gt_code_bytes_open(const struct gt_symbol_source *source);
/* The n bytes there, valid until the close; NULL where the file does not have them all. */
const uint8_t *gt_code_bytes_at(const struct gt_code_bytes *c, uint64_t addr, size_t n);
/* NULL is fine. */
void gt_code_bytes_close(struct gt_code_bytes *c);

#endif
