/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the files that read kernels (kernel*.c, kallsyms*.c, btf.c).
 *
 * A load goes: gt_kernel_load reads the file; unpack takes wrappings off until there is an ELF
 * file, a flat image or a text; that one's reader fills priv->segment[] and adds every symbol with
 * gt_kernel_add; gt_kernel_finish sorts them and chooses the functions.
 */
#ifndef GT_GUEST_KERNEL_PRIVATE_H
#define GT_GUEST_KERNEL_PRIVATE_H

#include "guest/elf/file.h"
#include "guest/kernel/kernel.h"

#define GT_KERNEL_SEGMENTS 32

/* Memory for names, freed at once. */
struct gt_name_chunk;
struct gt_names {
    struct gt_name_chunk *chunk;
    size_t used;
};

struct gt_kernel_segment {
    uint64_t addr;
    const uint8_t *data;
    size_t size;
};

/* Where BTF is in the image; see btf.c. */
struct gt_btf {
    const uint8_t *types; /* NULL: there is none */
    size_t types_size;
    const char *strings; /* ends with a 0 */
    size_t strings_size;
    uint32_t *index; /* of type i + 1: its offset in types */
    size_t n;
};

struct gt_kernel_private {
    struct gt_names names;
    bool flat;     /* one segment, at 0 until its link address is known */
    uint8_t *data; /* the unpacked file, unless it is an ELF file that libelf reads by itself */
    size_t size;
    struct gt_elf elf;
    struct gt_kernel_segment segment[GT_KERNEL_SEGMENTS];
    size_t n_segment;
    size_t all_cap;
    struct gt_btf btf;
};

/* A copy of at most GT_KERNEL_NAME_MAX bytes with control characters and blanks as '?';
 * NULL: out of memory. */
char *gt_names_add(struct gt_names *names, const char *text, size_t n);
void gt_names_free(struct gt_names *names);

/* Appends to all[]; the name is copied. GT_E_NOMEM; GT_E_RANGE beyond GT_KERNEL_SYMBOLS_MAX. */
int gt_kernel_add(struct gt_kernel *k, const struct gt_kernel_symbol *symbol, size_t name_size);

/* all[] is complete: sorts it, finds the text ranges, chooses the functions. GT_E_NOT_FOUND: none.
 */
int gt_kernel_finish(struct gt_kernel *k, struct gt_error *err);

/* By address, the order among equal ones stays; false: out of memory. */
bool gt_kernel_sort(struct gt_kernel_symbol *s, size_t n);

/* Leaves of sorted symbols one function an address, with sizes that end where the next symbol
 * begins; returns their number. Of ranges only the text's and the init text's are used. */
size_t gt_kernel_choose(struct gt_kernel_symbol *sym, size_t n, const struct gt_kernel *ranges);

/* Fills patched of a module's sections, whose numbers in the file are given. GT_E_NOMEM. */
int gt_kernel_module_mark(struct gt_kernel_ko *m, Elf *elf, const unsigned *number);

/* Appends ", form" to what the file is. */
void gt_kernel_add_form(struct gt_kernel *k, const char *form);

struct gt_kernel_unpacked {
    uint8_t *data; /* the caller's */
    size_t size;
    const char *form;
};
/* 1 and *out, of at most limit bytes; 0: not compressed; GT_E_UNSUPPORTED, GT_E_FORMAT, GT_E_TRUNC,
 * GT_E_RANGE, GT_E_NOMEM. */
int gt_kernel_unpack(const char *path, const uint8_t *data, size_t size, size_t limit,
                     struct gt_kernel_unpacked *out, struct gt_error *err);

/* priv->data is the file: takes its wrappings off and reads what is inside. */
int gt_kernel_read_image(struct gt_kernel *k, struct gt_error *err);

/* Adds the symbols of the kallsyms tables in the segments, and moves a flat image to its link
 * address. GT_E_NOT_FOUND: there are none. */
int gt_kallsyms_read(struct gt_kernel *k, struct gt_error *err);

/* Finds and indexes the BTF of a kernel whose segments and symbols are read; none is no error.
 * GT_E_NOMEM. b->index is the caller's. */
int gt_btf_open(const struct gt_kernel *k, struct gt_btf *b);
/* Fills b but for its index; false: no BTF at data, or one that lies. */
bool gt_btf_header(struct gt_btf *b, const uint8_t *data, size_t size);

/* priv->elf is open: segments, .symtab, without that kallsyms. */
int gt_kernel_read_elf(struct gt_kernel *k, struct gt_error *err);

/* priv->data is a text of "address type name [module]" lines. */
int gt_kernel_read_text(struct gt_kernel *k, struct gt_error *err);
/* True where the first line is such a line. */
bool gt_kernel_is_text(const uint8_t *data, size_t size);

#endif
