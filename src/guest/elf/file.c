/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening ELF files, and the rules by which a separate debug file is found. */
#include "guest/elf/file.h"

#include "guest/elf/symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const gt_debug_roots_default[] = {"/usr/lib/debug", NULL};

int gt_elf_open(const char *path, struct gt_elf *out, struct gt_error *err)
{
    struct stat st;

    out->elf = NULL;
    out->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (out->fd < 0)
        return gt_error_errno(err, errno, "%s: cannot open", path);
    if (fstat(out->fd, &st) != 0) {
        int errnum = errno;
        gt_elf_close(out);
        return gt_error_errno(err, errnum, "%s: cannot stat", path);
    }
    if (!S_ISREG(st.st_mode)) {
        gt_elf_close(out);
        return gt_error_set(err, GT_E_FORMAT, "%s: not a regular file, expected an ELF file", path);
    }
    elf_version(EV_CURRENT);
    out->elf = elf_begin(out->fd, ELF_C_READ, NULL);
    if (!out->elf || elf_kind(out->elf) != ELF_K_ELF) {
        gt_elf_close(out);
        return gt_error_set(err, GT_E_FORMAT, "%s: not an ELF file", path);
    }
    return GT_OK;
}

void gt_elf_close(struct gt_elf *e)
{
    if (e->elf)
        elf_end(e->elf);
    if (e->fd >= 0)
        close(e->fd);
    e->elf = NULL;
    e->fd = -1;
}

void gt_elf_build_id(Elf *elf, char hex[41])
{
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &id);

    hex[0] = '\0';
    for (ssize_t i = 0; i < n && i < 20; i++)
        snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
}

bool gt_elf_load_base(Elf *elf, uint64_t *base)
{
    size_t n;
    GElf_Phdr ph;
    bool found = false;

    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n && i < INT_MAX; i++) {
        if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
            continue;
        if (!found || (ph.p_vaddr & ~0xfffull) < *base)
            *base = ph.p_vaddr & ~0xfffull;
        found = true;
    }
    return found;
}

/* The CRC-32 of .gnu_debuglink: reflected, polynomial 0xedb88320. */
static bool file_crc(int fd, uint32_t *out)
{
    uint32_t table[256], crc = 0xffffffff;
    uint8_t buf[16384];
    off_t at = 0;
    ssize_t n;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    while ((n = pread(fd, buf, sizeof buf, at)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            crc = crc >> 8 ^ table[(crc ^ buf[i]) & 0xff];
        at += n;
    }
    *out = ~crc;
    return n == 0;
}

/* What a debug file must match. */
struct wanted {
    const char *build_id; /* "": none, the CRC counts */
    const uint32_t *crc;  /* NULL: only the build-id counts */
};

/* 1 opened and it matches, 0 not; takes *path over when 1. */
static int try_file(char *path, const struct wanted *w, struct gt_elf *out, char **debug_path)
{
    char id[41];
    uint32_t crc;
    bool match = false;

    if (gt_elf_open(path, out, NULL) == GT_OK) {
        gt_elf_build_id(out->elf, id);
        if (w->build_id[0])
            match = strcmp(id, w->build_id) == 0;
        else
            match = w->crc && file_crc(out->fd, &crc) && crc == *w->crc;
    }
    if (!match) {
        gt_elf_close(out);
        free(path);
        return 0;
    }
    *debug_path = path;
    return 1;
}

static int by_build_id(const char *const *roots, const struct wanted *w, struct gt_elf *out,
                       char **debug_path)
{
    if (strlen(w->build_id) < 3)
        return 0;
    for (; *roots; roots++) {
        char *path;
        if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", *roots, w->build_id, w->build_id + 2) < 0)
            return GT_E_NOMEM;
        if (try_file(path, w, out, debug_path))
            return 1;
    }
    return 0;
}

static int by_link(const char *path, const char *name, const char *const *roots,
                   const struct wanted *w, struct gt_elf *out, char **debug_path)
{
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL, *file;
    int r = 0;

    if (!slash) {
        free(real);
        return 0;
    }
    *slash = '\0';
    r = asprintf(&file, "%s/%s", real, name) < 0 ? GT_E_NOMEM : try_file(file, w, out, debug_path);
    if (r == 0)
        r = asprintf(&file, "%s/.debug/%s", real, name) < 0 ? GT_E_NOMEM
                                                            : try_file(file, w, out, debug_path);
    for (; r == 0 && *roots; roots++)
        r = asprintf(&file, "%s%s/%s", *roots, real, name) < 0 ? GT_E_NOMEM
                                                               : try_file(file, w, out, debug_path);
    free(real);
    return r;
}

int gt_elf_open_debug(const char *path, Elf *elf, const char *const *roots, struct gt_elf *out,
                      char **debug_path)
{
    char id[41];
    struct wanted w = {.build_id = id};
    GElf_Word crc32;
    const char *name;
    int r;

    out->elf = NULL;
    out->fd = -1;
    if (!*roots)
        return 0;
    gt_elf_build_id(elf, id);
    r = by_build_id(roots, &w, out, debug_path);
    if (r != 0)
        return r;
    name = dwelf_elf_gnu_debuglink(elf, &crc32);
    if (!name || !name[0] || strchr(name, '/') || strlen(name) > NAME_MAX)
        return 0;
    w.crc = &crc32;
    return by_link(path, name, roots, &w, out, debug_path);
}
