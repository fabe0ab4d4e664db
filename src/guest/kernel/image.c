/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwraps the boot images of Linux, layer by layer, down to the code.
 *
 *   arm64 Image     "ARM\x64" at 0x38; the image itself, its first byte at _text
 *   riscv64 Image   "RSC\x05" at 0x38; the image itself, its first byte at _start
 *   EFI zboot       "MZ", "zimg" at 4; u32 at 8 and 12: offset and size of the compressed image
 *   x86 bzImage     u16 0xaa55 at 0x1fe, "HdrS" at 0x202, u16 version at 0x206 (2.08 or later),
 *                   u8 at 0x1f1: sectors of set-up code but one; u32 at 0x248 and 0x24c: offset
 *                   from the end of the set-up code and size of the compressed vmlinux
 */
#include "base/bytes.h"
#include "guest/kernel/private.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 8 };

static bool has(const struct gt_kernel_private *p, size_t at, const char *magic, size_t n)
{
    return at <= p->size && n <= p->size - at && !memcmp(p->data + at, magic, n);
}

/* A number of the header, which is within the file as has() of something after it said. */
static uint32_t u32_at(const struct gt_kernel_private *p, size_t at)
{
    struct gt_bytes_reader r;

    gt_bytes_reader_init(&r, p->data + at, p->size > at ? p->size - at : 0);
    return gt_bytes_read_u32(&r);
}

static int bad_payload(const struct gt_kernel *k, uint64_t at, uint64_t size, struct gt_error *err)
{
    return gt_error_set(err, GT_E_TRUNC, "%s: payload of %llu bytes at %llu, the %s has %zu",
                        k->path, (unsigned long long)size, (unsigned long long)at, k->form,
                        k->priv->size);
}

/* Replaces the data by what its n bytes at at unpack to. 1, or 0 where they are not compressed. */
static int unpack(struct gt_kernel *k, uint64_t at, uint64_t n, struct gt_error *err)
{
    struct gt_kernel_private *p = k->priv;
    struct gt_kernel_unpacked out;
    int status;

    if (at > p->size || n > p->size - at)
        return bad_payload(k, at, n, err);
    status = gt_kernel_unpack(k->path, p->data + at, (size_t)n, GT_KERNEL_SIZE_MAX, &out, err);
    if (status == 1) {
        gt_kernel_add_form(k, out.form);
        free(p->data);
        p->data = out.data;
        p->size = out.size;
    }
    return status;
}

/* The payload of a wrapping, which need not be compressed. */
static int unwrap(struct gt_kernel *k, uint64_t at, uint64_t n, struct gt_error *err)
{
    int status = unpack(k, at, n, err);

    if (status == 0) {
        memmove(k->priv->data, k->priv->data + at, (size_t)n);
        k->priv->size = (size_t)n;
        status = 1;
    }
    return status;
}

/* 1 a layer taken off, 0 it is not a wrapping that we know. */
static int peel(struct gt_kernel *k, struct gt_error *err)
{
    const struct gt_kernel_private *p = k->priv;

    if (has(p, 4, "zimg", 4) && p->size >= 16) {
        gt_kernel_add_form(k, "EFI zboot");
        return unwrap(k, u32_at(p, 8), u32_at(p, 12), err);
    }
    if (has(p, 0x202, "HdrS", 4) && has(p, 0x1fe, "\x55\xaa", 2)) {
        uint32_t version = u32_at(p, 0x206) & 0xffff, sectors = u32_at(p, 0x1f1) & 0xff;
        gt_kernel_add_form(k, "bzImage");
        if (version < 0x208 || p->size < 0x250)
            return gt_error_set(err, GT_E_UNSUPPORTED,
                                "%s: boot protocol %u.%02u, expected 2.08 or later", k->path,
                                version >> 8, version & 0xff);
        return unwrap(k, ((sectors ? sectors : 4) + 1) * 512ull + u32_at(p, 0x248),
                      u32_at(p, 0x24c), err);
    }
    return unpack(k, 0, p->size, err);
}

static int read_flat(struct gt_kernel *k, const char *form, unsigned machine, struct gt_error *err)
{
    gt_kernel_add_form(k, form);
    k->e_machine = (uint16_t)machine;
    k->bits = 64;
    k->priv->segment[0] = (struct gt_kernel_segment){0, k->priv->data, k->priv->size};
    k->priv->n_segment = 1;
    k->priv->flat = true;
    return gt_kernel_kallsyms_read(k, err);
}

static int read_elf(struct gt_kernel *k, struct gt_error *err)
{
    struct gt_kernel_private *p = k->priv;

    gt_kernel_add_form(k, "ELF");
    elf_version(EV_CURRENT);
    p->elf.elf = elf_memory((char *)p->data, p->size);
    if (!p->elf.elf)
        return gt_error_set(err, GT_E_FORMAT, "%s: the ELF file in it is truncated or inconsistent",
                            k->path);
    return gt_kernel_read_elf(k, err);
}

int gt_kernel_read_image(struct gt_kernel *k, struct gt_error *err)
{
    const struct gt_kernel_private *p = k->priv;
    int status;

    for (int layer = 0; layer < LAYERS; layer++) {
        if (has(p, 0, ELFMAG, 4))
            return read_elf(k, err);
        if (!has(p, 4, "zimg", 4)) {
            if (has(p, 0x38, "ARM\x64", 4))
                return read_flat(k, "arm64 Image", EM_AARCH64, err);
            if (has(p, 0x38, "RSC\x05", 4))
                return read_flat(k, "riscv64 Image", EM_RISCV, err);
        }
        if (gt_kernel_is_text(p->data, p->size)) {
            gt_kernel_add_form(k, "symbol list");
            return gt_kernel_read_text(k, err);
        }
        status = peel(k, err);
        if (status < 0)
            return status;
        if (status == 0)
            return gt_error_set(
                err, GT_E_FORMAT,
                "%s: not a kernel image, vmlinux, System.map or copy of /proc/kallsyms%s%s",
                k->path, k->form[0] ? " inside: " : "", k->form);
    }
    return gt_error_set(err, GT_E_FORMAT, "%s: wrapped more than %d times: %s", k->path, LAYERS,
                        k->form);
}
