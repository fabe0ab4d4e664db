/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a kernel: selects the reader of a file, and reads the facts that every kernel has. */
#include "guest/kernel/kernel.h"
#include "base/search.h"

#include "base/file.h"
#include "guest/kernel/private.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first bytes of the file; their number, or a status. */
static int read_magic(const char *path, uint8_t magic[4], struct gt_error *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), errnum;
    ssize_t n;

    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", path);
    n = pread(fd, magic, 4, 0);
    errnum = errno;
    close(fd);
    if (n < 0)
        return gt_error_errno(err, errnum, "%s: cannot be read", path);
    return (int)n;
}

/* The banner of an image: the first text of its form that names a version. */
static void find_banner(struct gt_kernel *k)
{
    static const char start[] = "Linux version ";
    const size_t length = sizeof start - 1;

    for (size_t i = 0; i < k->priv->n_segment && !k->banner[0]; i++) {
        const uint8_t *at = k->priv->segment[i].data, *end = at + k->priv->segment[i].size;
        while ((at = memmem(at, (size_t)(end - at), start, length))) {
            size_t n = 0;
            while (n < sizeof k->banner - 1 && at + n < end && at[n] >= ' ' && at[n] <= '~')
                n++;
            if (n > length && at[length] >= '0' && at[length] <= '9') {
                memcpy(k->banner, at, n);
                k->banner[n] = '\0';
                break;
            }
            at += length;
        }
    }
}

static int read_any(struct gt_kernel *k, const uint8_t *magic, int n, struct gt_error *err)
{
    struct gt_kernel_private *p = k->priv;
    int status;

    if (n == 4 && !memcmp(magic, ELFMAG, 4)) {
        gt_kernel_add_form(k, "ELF");
        status = gt_elf_open(k->path, &p->elf, err);
        return status == GT_OK ? gt_kernel_read_elf(k, err) : status;
    }
    status = gt_file_read(k->path, GT_KERNEL_SIZE_MAX, (char **)&p->data, &p->size, err);
    if (status != GT_OK)
        return status;
    return gt_kernel_read_image(k, err);
}

int gt_kernel_load(const char *path, struct gt_kernel **out, struct gt_error *err)
{
    struct gt_kernel *k = calloc(1, sizeof *k);
    uint8_t magic[4];
    int status;

    *out = NULL;
    if (k) {
        k->path = strdup(path);
        k->priv = calloc(1, sizeof *k->priv);
    }
    if (!k || !k->path || !k->priv) {
        gt_kernel_free(k);
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    k->priv->elf.fd = -1;
    status = read_magic(path, magic, err);
    if (status >= 0)
        status = read_any(k, magic, status, err);
    if (status == GT_OK)
        status = gt_kernel_finish(k, err);
    if (status == GT_OK && gt_kernel_btf_open(k, &k->priv->btf) != GT_OK)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    if (status != GT_OK) {
        gt_kernel_free(k);
        return status;
    }
    find_banner(k);
    *out = k;
    return GT_OK;
}

void gt_kernel_free(struct gt_kernel *k)
{
    if (!k)
        return;
    if (k->priv) {
        gt_elf_close(&k->priv->elf);
        gt_kernel_names_free(&k->priv->names);
        free(k->priv->btf.index);
        free(k->priv->data);
        free(k->priv);
    }
    for (size_t i = 0; i < k->n_module; i++)
        free(k->module[i].sym);
    free(k->module);
    free(k->sym);
    free(k->all);
    free(k->path);
    free(k);
}

const struct gt_kernel_symbol *gt_kernel_find(const struct gt_kernel *k, uint64_t addr)
{
    size_t n = GT_SEARCH_UP_TO(k->sym, k->n_sym, addr, addr);
    const struct gt_kernel_symbol *sym = n ? &k->sym[n - 1] : NULL;

    return sym && addr - sym->addr < sym->size ? sym : NULL;
}
