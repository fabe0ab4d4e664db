/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the files that read kernels share (kernel*.c, kallsyms*.c, btf.c).
 *
 * Steps of a load: gt_kernel_load reads the file; unpack removes wrappings until there is an ELF
 * file, a flat image or a text; its reader fills priv->segment[] and adds every symbol with
 * gt_kernel_add; gt_kernel_finish sorts them and chooses the functions.
 */
#ifndef GT_GUEST_KERNEL_PRIVATE_H
#define GT_GUEST_KERNEL_PRIVATE_H

#include "guest/elf/file.h"
#include "guest/kernel/btf.h"
#include "guest/kernel/kernel.h"

#define GT_KERNEL_SEGMENTS 32

/* Memory of names, freed as a whole. */
struct gt_kernel_name_chunk;
struct gt_kernel_names {
    struct gt_kernel_name_chunk *chunk;
    size_t used;
};

struct gt_kernel_segment {
    uint64_t addr;
    const uint8_t *data;
    size_t size;
};

struct gt_kernel_private {
    struct gt_kernel_names names;
    bool flat;     /* the image is one segment, at 0 until its link address is known */
    uint8_t *data; /* the unpacked file; NULL for an ELF file that libelf reads directly */
    size_t size;
    struct gt_elf elf;
    struct gt_kernel_segment segment[GT_KERNEL_SEGMENTS];
    size_t n_segment;
    size_t all_cap;
    struct gt_kernel_btf btf;
};

/* Returns a copy of at most GT_KERNEL_NAME_MAX bytes with control characters and blanks as '?';
 * NULL: out of memory. */
char *gt_kernel_names_add(struct gt_kernel_names *names, const char *text, size_t n);
void gt_kernel_names_free(struct gt_kernel_names *names);

/* Appends to all[]; the name is copied. GT_E_NOMEM; GT_E_RANGE beyond GT_KERNEL_SYMBOLS_MAX. */
int gt_kernel_add(struct gt_kernel *k, const struct gt_kernel_symbol *symbol, size_t name_size);

/* Called when all[] is complete: sorts it, finds the text ranges, chooses the functions.
 * GT_E_NOT_FOUND: there are no functions. */
int gt_kernel_finish(struct gt_kernel *k, struct gt_error *err);

/* Stable sort by address; false: out of memory. */
bool gt_kernel_sort(struct gt_kernel_symbol *s, size_t n);

/* Reduces sorted symbols to one function an address, whose size ends where the next symbol begins;
 * returns their number. Of `ranges` only the ranges of text and init text are used. */
size_t gt_kernel_choose(struct gt_kernel_symbol *sym, size_t n, const struct gt_kernel *ranges);

/* Fills `patched` of a module's sections; `number` has their numbers in the file. GT_E_NOMEM. */
int gt_kernel_module_mark(struct gt_kernel_ko *m, Elf *elf, const unsigned *number);

/* Appends ", FORM" to k->form. */
void gt_kernel_add_form(struct gt_kernel *k, const char *form);

struct gt_kernel_unpacked {
    uint8_t *data; /* freed by the caller */
    size_t size;
    const char *form;
};
/* Unpacks to at most `limit` bytes: 1 and *out; 0: not compressed; GT_E_UNSUPPORTED, GT_E_FORMAT,
 * GT_E_TRUNC, GT_E_RANGE, GT_E_NOMEM. */
int gt_kernel_unpack(const char *path, const uint8_t *data, size_t size, size_t limit,
                     struct gt_kernel_unpacked *out, struct gt_error *err);

/* Removes the wrappings of the file in priv->data and reads the content. */
int gt_kernel_read_image(struct gt_kernel *k, struct gt_error *err);

/* Adds the symbols of the kallsyms tables in the segments, and moves a flat image to its link
 * address. GT_E_NOT_FOUND: there are no tables. */
int gt_kernel_kallsyms_read(struct gt_kernel *k, struct gt_error *err);

/* Finds and indexes the BTF of a kernel whose segments and symbols have been read; no BTF is not an
 * error. GT_E_NOMEM. The caller frees b->index. */
int gt_kernel_btf_open(const struct gt_kernel *k, struct gt_kernel_btf *b);

/* Reads priv->elf, which is open: its segments and .symtab, or without .symtab its kallsyms tables.
 *
 */
int gt_kernel_read_elf(struct gt_kernel *k, struct gt_error *err);

/* Reads the text of "address type name [module]" lines in priv->data. */
int gt_kernel_read_text(struct gt_kernel *k, struct gt_error *err);
/* True if the first line is such a line. */
bool gt_kernel_is_text(const uint8_t *data, size_t size);

#endif
