/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a Linux kernel, read from any form of its file.
 *
 * The form is detected from the file's content, never from its name:
 *   - an arm64 or riscv64 Image, an x86_64 bzImage, an EFI zboot image;
 *   - an ELF vmlinux: its .symtab, or where that is stripped the kallsyms tables in its data;
 *   - System.map; a copy of /proc/kallsyms;
 * each also compressed as a whole with gzip, xz, lzma, zstd, lz4 or bzip2, and a vmlinux that is
 * wrapped so inside an image. The symbols of an image come from its kallsyms tables, in the layouts
 * of 4.19 to 7.2; docs/kernel-symbols.md lists the kernels that were tried.
 *
 * Addresses are link addresses, at which a kernel without KASLR runs. In a relocatable image with
 * an unknown link address the first byte has address 0 (load_lo).
 *
 * Everything in the file is checked: sizes are bounded (GT_KERNEL_SIZE_MAX), counts and offsets
 * verified.
 */
#ifndef GT_GUEST_KERNEL_KERNEL_H
#define GT_GUEST_KERNEL_KERNEL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_KERNEL_SIZE_MAX    ((size_t)512 << 20) /* bytes of an image, packed or unpacked */
#define GT_KERNEL_SYMBOLS_MAX ((size_t)4 << 20)
#define GT_KERNEL_NAME_MAX    1023 /* bytes of a name; longer ones are cut */

struct gt_kernel_symbol {
    uint64_t addr; /* link address */
    uint64_t size; /* functions: bytes, at least 1, never into the next function; in all[] 0 if the
                      file does not have the size */
    char *name;    /* never empty; control characters and blanks are '?' */
    char type;     /* the letter that nm prints: 'T' and 't' code, 'W' and 'w' weak, 'D' data, 'A'
                      absolute... */
};

/* The functions of a loaded module, from a copy of /proc/kallsyms. "bpf" and "__builtin__ftrace"
 * are such modules, too. */
struct gt_kernel_loaded {
    char *name;                   /* without its brackets */
    struct gt_kernel_symbol *sym; /* sorted by addr, one per address */
    size_t n_sym;
};

struct gt_kernel_private;

struct gt_kernel {
    char *path;                /* the file as it was opened */
    char form[64];             /* the detected form: "zstd, ELF", "arm64 Image", "System.map" */
    uint16_t e_machine;        /* EM_AARCH64, EM_RISCV, EM_X86_64...; 0: unknown */
    uint8_t bits;              /* 32 or 64; 0: unknown */
    char banner[256];          /* "Linux version 6.1.0-...", one line; "": the file has none */
    uint64_t text_lo, text_hi; /* _stext.._etext; without them the range of the functions */
    uint64_t init_lo, init_hi; /* _sinittext.._einittext; hi 0: none */
    uint64_t load_lo;          /* link address of the first byte of the image (_text, _head) */

    /* The functions: code symbols, without symbols of the linker script (_stext,
     * __entry_text_start) and padding before functions (__pfx_, __cfi_). Each address has one name:
     * global before weak before local, then fewer leading underscores, then the shorter name, then
     * the alphabet. */
    struct gt_kernel_symbol *sym; /* sorted by addr, not overlapping */
    size_t n_sym;
    struct gt_kernel_symbol *all; /* every symbol of the kernel in the file, data and absolute
                                     symbols included; sorted by addr, then in the file's order */
    size_t n_all;
    struct gt_kernel_loaded *module; /* sorted by the address of the first function */
    size_t n_module;

    struct gt_kernel_private *priv;
};

/* Reads the file at path; the caller frees *out with gt_kernel_free. GT_E_NOT_FOUND: no such file,
 * or it has no symbols; GT_E_IO: cannot be read; GT_E_FORMAT: not a kernel, or a damaged one;
 * GT_E_TRUNC: the file ends too early; GT_E_RANGE: larger than the bounds; GT_E_UNSUPPORTED:
 * big-endian; GT_E_NOMEM. */
int gt_kernel_load(const char *path, struct gt_kernel **out, struct gt_error *err);

/* NULL is fine. */
void gt_kernel_free(struct gt_kernel *k);

/* Returns the kernel's function that contains the link address, or NULL. Functions of modules are
 * not searched. */
const struct gt_kernel_symbol *gt_kernel_find(const struct gt_kernel *k, uint64_t addr);

/* Finds the link address of a symbol by name, code or data (the first in all[]); false: not found.
 * For x86's per-CPU variables (pcpu_hot, current_task) it is the offset from the gs base. */
bool gt_kernel_address(const struct gt_kernel *k, const char *name, uint64_t *addr);

/* Returns the n bytes of the image at the link address, as they are in the file (before relocation
 * and patching); NULL: the file does not have all of them. Valid until gt_kernel_free. */
const uint8_t *gt_kernel_bytes(const struct gt_kernel *k, uint64_t addr, size_t n);

/* Finds, in the image's BTF, the offset in bytes of a member of a struct or union. Members of
 * anonymous structs and unions inside it are found by their name alone, members of named ones by a
 * dotted path ("thread.fsbase", "se.vruntime"). GT_E_NOT_FOUND: no such struct or member;
 * GT_E_UNSUPPORTED: no BTF in the file, or a bit field; GT_E_FORMAT: invalid BTF. */
int gt_kernel_member(const struct gt_kernel *k, const char *type, const char *member,
                     uint32_t *byte_offset);

/* Finds, in the BTF, the size in bytes of a struct or union. Errors as gt_kernel_member. */
int gt_kernel_sizeof(const struct gt_kernel *k, const char *type, uint32_t *bytes);

/*
 * The file of a kernel module (.ko), which may be compressed like an image.
 *
 * It has no addresses yet: each function is known by its section and its offset in it. Linux's
 * loader puts the executable sections one after the other, in their order in the file, each
 * aligned, into one block for the module's life and one for its start (.init*): `at` is the offset
 * in that block. The PLT sections of arm64 and riscv64, which have one byte in the file, get their
 * size when the module is loaded: after one, `at` is unknown. (In the guest,
 * /sys/module/NAME/sections/.text has the address.)
 */
struct gt_kernel_section {
    char *name;          /* ".text", ".init.text", ".text.unlikely"... */
    bool init;           /* the section is in the block that is freed after the start */
    bool placed;         /* `at` is known */
    uint64_t at, size;   /* offset in its block; bytes */
    const uint8_t *data; /* size bytes, before relocation */
    /* `size` bytes: 1 for each byte that the loader or the kernel may change. Set for 64-bit
     * modules only, since 32-bit ones store their relocations in another way */
    uint8_t *patched;
};

struct gt_kernel_ko_symbol {
    uint64_t offset; /* offset in its section */
    uint64_t size;   /* at least 1 */
    char *name;
    char type;        /* 'T', 't', 'W' */
    unsigned section; /* index into section[] */
};

struct gt_kernel_ko {
    char *path;
    char name[64]; /* "ext4": from .modinfo, else from .gnu.linkonce.this_module, else the file's
                      name up to .ko; '-' becomes '_' */
    uint16_t e_machine;
    uint8_t bits;
    struct gt_kernel_section *section; /* the executable sections, in the file's order */
    size_t n_section;
    struct gt_kernel_ko_symbol *sym; /* sorted by section, then offset; one per offset */
    size_t n_sym;

    struct gt_kernel_ko_private *priv;
};

/* Errors as gt_kernel_load; a module without functions is a success with n_sym 0. */
int gt_kernel_module_load(const char *path, struct gt_kernel_ko **out, struct gt_error *err);
/* NULL is fine. */
void gt_kernel_module_free(struct gt_kernel_ko *m);

#endif
