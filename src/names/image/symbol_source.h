/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FILE[:OFFSET]: a file whose functions name addresses of a guest, and its load offset.
 *
 * The file is an ELF program or library, a Linux kernel of any form that guest/kernel/kernel.h
 * reads, or a kernel module (.ko); the type is detected from the content. OFFSET (decimal or hex,
 * with an optional sign, modulo 2^64) is added to the link addresses of the file; a module's code
 * is linked at 0.
 *
 * A source has parts; each part has one load offset. An ELF file and a kernel have one part; a
 * module has its code and the code that is freed after its start; a copy of /proc/kallsyms has the
 * kernel and a part for each loaded module.
 */
#ifndef GT_NAMES_IMAGE_SYMBOL_SOURCE_H
#define GT_NAMES_IMAGE_SYMBOL_SOURCE_H

#include "base/error.h"
#include "guest/elf/symbols.h"
#include "guest/kernel/kernel.h"
#include "recording/directory/uftrace.h"

/* The suffix of the path of a module's code that is freed after its start. */
#define GT_SOURCE_START "+init"

struct gt_image_source_function {
    uint64_t addr; /* link address */
    uint64_t size; /* at least 1, never into the next function */
    const char *name;
    char type;    /* as in gt_uftrace_symbol */
    bool unnamed; /* the name is generated from its address */
    bool guessed; /* the file does not have its size */
};

struct gt_image_source_part {
    char path[GT_UFTRACE_PATH_MAX]; /* absolute, converted by gt_uftrace_path: that of the file;
                                       with several parts FILE/NAME or FILE+NAME */
    uint64_t lo, hi;                /* link addresses of its code, lo at the start of a page */
    struct gt_image_source_function *function; /* sorted by addr, all between lo and hi */
    size_t n;
    struct gt_place_load_offset_order
        *order;      /* NULL: computed at each search (placement/load_offset.h) */
    uint64_t step;   /* its load offset is a multiple of this: at least a page */
    bool searched;   /* without OFFSET, its load offset is searched in the recording */
    bool init;       /* the code of a module that is freed after its start */
    bool has_offset; /* OFFSET was given on the command line */
    uint64_t offset;
};

enum gt_image_source_kind { GT_SOURCE_ELF, GT_SOURCE_KERNEL, GT_SOURCE_MODULE };

struct gt_image_symbol_source {
    char file[GT_UFTRACE_PATH_MAX]; /* absolute, converted by gt_uftrace_path */
    char *opened;                   /* the same, not converted, for open(2) */
    enum gt_image_source_kind kind;
    const char *build_id; /* "": the file has none */
    struct gt_image_source_part *part;
    size_t n_parts;
    struct gt_elf_symbols
        *symbols; /* of symbols, kernel and ko the one for `kind` is set, the others are NULL */
    struct gt_kernel *kernel;
    struct gt_kernel_ko *ko;
};

/* Loads a file; *out needs gt_image_symbol_source_clear only after success. Errors of
 * gt_elf_symbols_load, gt_kernel_load and gt_kernel_module_load; GT_E_FORMAT: no code in the file;
 * GT_E_RANGE: code that does not fit below 2^48 at OFFSET. */
int gt_image_symbol_source_load(const char *argument, struct gt_image_symbol_source *out,
                                struct gt_error *err);
void gt_image_symbol_source_clear(struct gt_image_symbol_source *s);

/* Returns the function that contains the link address; NULL: none. */
const struct gt_image_source_function *
gt_image_source_part_find(const struct gt_image_source_part *p, uint64_t addr);

/* Splits at the last ':' that precedes a number. The caller frees *path (g_free). */
void gt_image_symbol_source_split(const char *argument, char **path, bool *has_offset,
                                  uint64_t *offset);

/* True if one of the n sources is that file with an OFFSET: then it ran nowhere else. */
bool gt_image_symbol_source_given(const struct gt_image_symbol_source *source, size_t n,
                                  const char *file);

/* GT_E_RANGE: the link addresses lo..hi do not fit below 2^48 at the offset. */
int gt_image_symbol_source_fits(const char *path, uint64_t lo, uint64_t hi, uint64_t offset,
                                struct gt_error *err);

/* The code bytes of a source, by link address. */

struct gt_image_code_bytes;

/* Opens the code of an ELF file or a kernel. NULL: the code is not available (a module that is not
 * loaded, a text file, a file that cannot be read any more). Close it with
 * gt_image_code_bytes_close before the source is cleared. */
struct gt_image_code_bytes *gt_image_code_bytes_open(const struct gt_image_symbol_source *source);
/* Returns n bytes, valid until the close; NULL: the file does not have all of them. */
const uint8_t *gt_image_code_bytes_at(const struct gt_image_code_bytes *c, uint64_t addr, size_t n);
/* NULL is fine. */
void gt_image_code_bytes_close(struct gt_image_code_bytes *c);

#endif
