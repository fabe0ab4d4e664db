/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files below a folder: see files.h. */
#include "names/processes/files.h"

#include "names/placement/load_offset.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct found {
    GPtrArray *paths;
    GHashTable *seen; /* "DEV:INODE" */
    bool cut;
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* An executable or a shared object, of 64 bits: what runs in the machines that are recorded. */
static bool is_program(const char *path)
{
    unsigned char head[18];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool whole = read(fd, head, sizeof head) == (ssize_t)sizeof head;
    close(fd);
    return whole && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64 &&
           head[EI_DATA] == ELFDATA2LSB && (head[16] == ET_EXEC || head[16] == ET_DYN) &&
           head[17] == 0;
}

static void look_at(struct found *f, const FTSENT *e)
{
    const struct stat *st = e->fts_statp;
    if (!S_ISREG(st->st_mode) || st->st_size < (off_t)sizeof(Elf64_Ehdr) ||
        st->st_size > GT_SYSROOT_SIZE_MAX || !is_program(e->fts_path))
        return;
    if (f->paths->len == GT_SYSROOT_FILES_MAX) {
        f->cut = true;
        return;
    }
    char *id = g_strdup_printf("%ju:%ju", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
    if (g_hash_table_add(f->seen, id))
        g_ptr_array_add(f->paths, g_strdup(e->fts_path));
}

static int walk(const char *folder, struct found *f, struct gt_error *err)
{
    g_autofree char *root = g_strdup(folder);
    char *const roots[] = {root, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    if (!fts)
        return gt_error_set(err, GT_E_IO, "%s: %s", folder, strerror(errno));
    size_t n = 0;
    int status = 0;
    for (FTSENT *e; status == 0 && (e = fts_read(fts));) {
        if (e->fts_level == 0 && e->fts_info != FTS_D && e->fts_info != FTS_DP)
            status = gt_error_set(err, e->fts_errno == ENOENT ? GT_E_NOT_FOUND : GT_E_IO, "%s: %s",
                                  folder, strerror(e->fts_errno ? e->fts_errno : ENOTDIR));
        else if (e->fts_info == FTS_F)
            look_at(f, e);
        f->cut |= ++n > GT_SYSROOT_ENTRIES_MAX;
        if (n > GT_SYSROOT_ENTRIES_MAX)
            break;
    }
    fts_close(fts);
    return status;
}

/* One part, without an OFFSET, whatever the name. */
static bool load(const char *path, struct gt_symbol_source *out)
{
    g_autofree char *argument = g_canonicalize_filename(path, NULL);
    if (gt_symbol_source_load(argument, out, NULL) < 0)
        return false;
    if (out->kind == GT_SOURCE_ELF && !out->part[0].has_offset && out->part[0].n)
        return true;
    gt_symbol_source_clear(out);
    return false;
}

int gt_sysroot_files_load(const char *folder, struct gt_sysroot_files *out, struct gt_error *err)
{
    struct found f = {.paths = g_ptr_array_new_with_free_func(g_free),
                      .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    *out = (struct gt_sysroot_files){0};
    int status = walk(folder, &f, err);
    size_t functions = 0;
    out->source = g_new0(struct gt_symbol_source, f.paths->len + 1);
    for (guint i = 0; status == 0 && i < f.paths->len; i++) {
        struct gt_symbol_source *s = &out->source[out->n];
        if (!load(f.paths->pdata[i], s))
            continue;
        if (s->part[0].n > GT_SYSROOT_FUNCTIONS_MAX - functions) {
            gt_symbol_source_clear(s);
            f.cut = true;
            continue;
        }
        functions += s->part[0].n;
        s->part[0].order = gt_load_offset_order(&s->part[0]);
        out->n++;
    }
    out->cut = f.cut;
    g_ptr_array_unref(f.paths);
    g_hash_table_unref(f.seen);
    if (status < 0)
        gt_sysroot_files_clear(out);
    return status;
}

void gt_sysroot_files_clear(struct gt_sysroot_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        gt_symbol_source_clear(&f->source[i]);
    g_free(f->source);
    *f = (struct gt_sysroot_files){0};
}
