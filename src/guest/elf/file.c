/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening ELF files, and the rules by which a separate debug file is found. */
#include "guest/elf/file.h"

#include "base/bytes.h"
#include "guest/elf/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const gt_elf_debug_roots_default[] = {"/usr/lib/debug", NULL};

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

Elf_Scn *gt_elf_find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        const char *own =
            gelf_getshdr(scn, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (own && strcmp(own, name) == 0 && header->sh_type != SHT_NOBITS)
            return scn;
    }
    return NULL;
}

static bool find_id(Elf_Data *notes, char hex[41])
{
    GElf_Nhdr note;
    size_t at = 0, name, desc;

    while (notes && notes->d_buf && (at = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
        const uint8_t *data = notes->d_buf;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU ||
            memcmp(data + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
            continue;
        for (size_t i = 0; i < note.n_descsz && i < 20; i++)
            snprintf(hex + 2 * i, 3, "%02x", data[desc + i]);
        return true;
    }
    return false;
}

/* A file without sections has segments only. */
void gt_elf_build_id(Elf *elf, char hex[41])
{
    Elf_Scn *scn = elf_nextscn(elf, NULL);
    size_t n = 0;
    bool found = false;
    GElf_Shdr sh;
    GElf_Phdr ph;

    hex[0] = '\0';
    if (!scn && elf_getphdrnum(elf, &n) != 0)
        n = 0;
    for (; scn && !found; scn = elf_nextscn(elf, scn))
        found = gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE &&
                find_id(elf_getdata(scn, NULL), hex);
    for (size_t i = 0; i < n && i < INT_MAX && !found; i++)
        if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_NOTE)
            found = find_id(elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz,
                                                 ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
                            hex);
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

/* .gnu_debuglink: a name, and at the next four bytes behind its end a checksum of that file. */
static const char *read_link(Elf *elf, uint32_t *crc)
{
    GElf_Shdr sh;
    Elf_Scn *scn = gt_elf_find_section(elf, ".gnu_debuglink", &sh);
    const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    const char *name = data ? data->d_buf : NULL,
               *end = name ? memchr(name, 0, data->d_size) : NULL;
    struct gt_bytes_reader in;

    if (!end)
        return NULL;
    gt_bytes_reader_init(&in, name, data->d_size);
    gt_bytes_read_bytes(&in, ((size_t)(end - name) + 4) & ~(size_t)3);
    *crc = gt_bytes_read_u32(&in);
    return in.short_of ? NULL : name;
}

int gt_elf_open_debug(const char *path, Elf *elf, const char *const *roots, struct gt_elf *out,
                      char **debug_path)
{
    char id[41];
    struct wanted w = {.build_id = id};
    uint32_t crc32;
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
    name = read_link(elf, &crc32);
    if (!name || !name[0] || strchr(name, '/') || strlen(name) > NAME_MAX)
        return 0;
    w.crc = &crc32;
    return by_link(path, name, roots, &w, out, debug_path);
}
