/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a Linux kernel out of whatever file there is of it.
 *
 * What a file is is found from its content, never from its name:
 *   - an arm64 or riscv64 Image, an x86_64 bzImage, an EFI zboot image;
 *   - an ELF vmlinux: its .symtab, or where that is stripped the kallsyms tables in its data;
 *   - System.map; a copy of /proc/kallsyms;
 * each also compressed as a whole with gzip, xz, lzma, zstd, lz4 or bzip2, and a vmlinux that is
 * wrapped so inside an image. Symbols of an image are those of its kallsyms tables, in the layouts
 * of 4.19 to 7.2; docs/kernel-symbols.md says which kernels were tried.
 *
 * Addresses are link addresses: where a kernel without KASLR runs. Where nothing in a relocatable
 * image tells its own, the image's first byte is 0 (load_lo).
 *
 * Nothing of the file is believed: sizes are bounded (GT_KERNEL_SIZE_MAX), counts and offsets
 * checked.
 */
#ifndef GT_GUEST_KERNEL_KERNEL_H
#define GT_GUEST_KERNEL_KERNEL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_KERNEL_SIZE_MAX    ((size_t)512 << 20) /* of an image, before and after unpacking */
#define GT_KERNEL_SYMBOLS_MAX ((size_t)4 << 20)
#define GT_KERNEL_NAME_MAX    1023 /* bytes of a name; longer ones are cut */

struct gt_kernel_symbol {
    uint64_t addr; /* link address */
    uint64_t size; /* functions: bytes, at least 1, never into the next function; 0 in all[] where
                    * the file says no size */
    char *name;    /* never empty; control characters and blanks are '?' */
    char type; /* as nm says it: 'T' and 't' code, 'W' and 'w' weak, 'D' data, 'A' absolute... */
};

/* The functions of a loaded module, out of a copy of /proc/kallsyms. "bpf" and
 * "__builtin__ftrace" are such modules, too. */
struct gt_kernel_loaded {
    char *name;                   /* without its brackets */
    struct gt_kernel_symbol *sym; /* sorted by addr, one per address */
    size_t n_sym;
};

struct gt_kernel_private;

struct gt_kernel {
    char *path;         /* the file as it was opened */
    char form[64];      /* what it is: "zstd, ELF", "arm64 Image", "System.map" */
    uint16_t e_machine; /* EM_AARCH64, EM_RISCV, EM_X86_64...; 0 where the file does not say */
    uint8_t bits;       /* 32 or 64; 0 where the file does not say */
    char banner[256];   /* "Linux version 6.1.0-...", one line; "" where the file has none */
    uint64_t text_lo, text_hi; /* _stext.._etext; without them the range of the functions */
    uint64_t init_lo, init_hi; /* _sinittext.._einittext; hi 0: none */
    uint64_t load_lo;          /* link address of the first byte of the image (_text, _head) */

    /* The functions: code symbols that are no marks of the linker script (_stext,
     * __entry_text_start) and no padding before functions (__pfx_,
     * __cfi_). One an address: global before
     * weak before local, then the fewer leading underscores, the shorter, the alphabet. */
    struct gt_kernel_symbol *sym; /* sorted by addr, not overlapping */
    size_t n_sym;
    struct gt_kernel_symbol *all; /* every symbol of the kernel as the file has it, data and
                                   * absolute ones, too; sorted by addr, then as in the file */
    size_t n_all;
    struct gt_kernel_loaded *module; /* sorted by the address of the first function */
    size_t n_module;

    struct gt_kernel_private *priv;
};

/* Reads the file at path; *out is the caller's, to be given to gt_kernel_free.
 * GT_E_NOT_FOUND: no such file, or no symbols in it; GT_E_IO: cannot be read; GT_E_FORMAT: no
 * kernel, or one that lies; GT_E_TRUNC: the file ends too early; GT_E_RANGE: larger than the
 * bounds; GT_E_UNSUPPORTED: big-endian; GT_E_NOMEM. */
int gt_kernel_load(const char *path, struct gt_kernel **out, struct gt_error *err);

/* NULL is fine. */
void gt_kernel_free(struct gt_kernel *k);

/* The function that contains the link address, or NULL. Those of modules are not looked at. */
const struct gt_kernel_symbol *gt_kernel_find(const struct gt_kernel *k, uint64_t addr);

/* The link address of the symbol of that name, code or data (the first in all[]); false: none. For
 * x86's per-CPU variables (pcpu_hot, current_task) it is the offset from the gs base. */
bool gt_kernel_address(const struct gt_kernel *k, const char *name, uint64_t *addr);

/* The n bytes of the image at the link address, as the file has them (before relocation and
 * patching); NULL where the file does not have them all. Valid until gt_kernel_free. */
const uint8_t *gt_kernel_bytes(const struct gt_kernel *k, uint64_t addr, size_t n);

/* By the BTF in the image: the offset in bytes of a member of a struct or union. Members of
 * anonymous structs and unions inside it are found by their name alone, those of named ones by a
 * dotted path ("thread.fsbase", "se.vruntime"). GT_E_NOT_FOUND: no such struct or member;
 * GT_E_UNSUPPORTED: no BTF in the file, or a bit field; GT_E_FORMAT: the BTF lies. */
int gt_kernel_member(const struct gt_kernel *k, const char *type, const char *member,
                     uint32_t *byte_offset);

/* By the BTF: the size in bytes of a struct or union. Errors as gt_kernel_member. */
int gt_kernel_sizeof(const struct gt_kernel *k, const char *type, uint32_t *bytes);

/*
 * A kernel module's file (.ko), which may be compressed as an image may.
 *
 * It has no addresses yet: each function is known by its section and its offset in it. Linux's
 * loader puts the executable sections one after the other, in their order in the file, each
 * aligned, into one block for the module's life and one for its start (.init*): at is the offset
 * in its block. How large arm64's and riscv64's PLT sections become, which have one byte in the
 * file, is decided when the module is loaded: behind one, at is not known. (In the guest,
 * /sys/module/NAME/sections/.text tells.)
 */
struct gt_kernel_section {
    char *name;          /* ".text", ".init.text", ".text.unlikely"... */
    bool init;           /* in the block that is freed after the start */
    bool placed;         /* at is known */
    uint64_t at, size;   /* offset in its block; bytes */
    const uint8_t *data; /* size bytes, before relocation */
    /* size bytes: 1 where the loader or the kernel may write something else. Known for 64-bit
     * modules; 32-bit ones keep their relocations another way */
    uint8_t *patched;
};

struct gt_kernel_ko_symbol {
    uint64_t offset; /* in its section */
    uint64_t size;   /* at least 1 */
    char *name;
    char type;        /* 'T', 't', 'W' */
    unsigned section; /* index into section[] */
};

struct gt_kernel_ko {
    char *path;
    char name[64]; /* "ext4": .modinfo's, else .gnu.linkonce.this_module's, else the file's name up
                    * to .ko; '-' is '_' */
    uint16_t e_machine;
    uint8_t bits;
    struct gt_kernel_section *section; /* the executable ones, in the file's order */
    size_t n_section;
    struct gt_kernel_ko_symbol *sym; /* sorted by section, then offset; one per place */
    size_t n_sym;

    struct gt_kernel_ko_private *priv;
};

/* Errors as gt_kernel_load; a module without functions is a success with n_sym 0. */
int gt_kernel_module_load(const char *path, struct gt_kernel_ko **out, struct gt_error *err);
/* NULL is fine. */
void gt_kernel_module_free(struct gt_kernel_ko *m);

#endif
