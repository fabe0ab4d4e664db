/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files into a compact file and out of it: see gather.h. */
#include "calls/file/gather.h"

#include "base/file.h"
#include "calls/file/file.h"
#include "calls/file/parts.h"
#include "calls/file/ran.h"
#include "calls/file/set.h"
#include "recording/directory/uftrace.h"
#include "recording/texts/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 + GT_COMPACT_MAX_NAME + 2 };

/* ---- names --------------------------------------------------------------------------------- */

static bool is_record_file(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, ".dat") == 0;
}

/* A regular file that belongs into a compact file. */
static bool is_text_file(const char *dir, const char *name)
{
    char path[PATH_ROOM];
    struct stat st;
    if (name[0] == '.' || is_record_file(name))
        return false;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- gathering ----------------------------------------------------------------------------- */

/* What may be left out where all files have a limit. */
enum names {
    ALL_NAMES, /* the newest of several parts has the names of all */
    RAN_NAMES,
    NO_LINES, /* source lines */
    NO_NAMES,
};

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    return n > e && strcmp(name + n - e, ending) == 0;
}

/* Two descriptors at a time are enough: a guest may have left no more. */
struct gather {
    const char *dir, *path;
    bool texts;                 /* the file keeps some text files, before records */
    int names;                  /* enum names */
    struct gt_compact_ran *ran; /* NULL: all symbols are kept */
    int fd;                     /* of the file, for appending, alone; -1: only `bytes` are wanted */
    uint64_t bytes;             /* of the blocks */
    struct gt_error *err;
};

/* Where the last block of records ends: of the text files and indexes after it the directory has
 * the present state. *texts: there are some before it. */
static uint64_t end_of_records(const struct gt_compact_file *f, bool *texts)
{
    uint64_t end = GT_COMPACT_FILE_HEAD;
    bool some = false;
    *texts = false;
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_compact_block *b = &f->block[i];
        some |= b->head.type == GT_COMPACT_FILE;
        if (b->head.type == GT_COMPACT_FILE || b->head.type == GT_COMPACT_INDEX)
            continue;
        end = b->at + GT_COMPACT_HEAD + b->head.size;
        *texts = some;
    }
    return end;
}

/* The file has it. */
static bool is_there(const struct gather *g, const char *name, const char *data, size_t n)
{
    struct gt_compact_file f;
    char *old;
    size_t size;
    bool same = false;
    if (!g->texts || gt_compact_file_open(g->path, &f, NULL) < 0)
        return false;
    if (gt_compact_file_text(&f, name, &old, &size, NULL) == 0) {
        same = size == n && memcmp(old, data, n) == 0;
        free(old);
    }
    gt_compact_file_close(&f);
    return same;
}

static int append(struct gather *g, const char *path, const char *name, const char *data, size_t n)
{
    uint8_t *block = NULL;
    size_t size;
    if (is_there(g, name, data, n))
        return 0;
    int status = gt_compact_text_pack(name, data, n, &block, &size);
    if (status < 0)
        return gt_error_set(g->err, status, "%s: %s", path,
                            status == GT_E_NOMEM ? "out of memory" : "the file is too long");
    g->bytes += size;
    if (g->fd >= 0)
        status = gt_compact_append_to(g->fd, g->path, block, size, g->err);
    free(block);
    return status;
}

static int gather_one(struct gather *g, const char *name)
{
    char path[PATH_ROOM], *data = NULL;
    struct gt_text less = {0};
    size_t n;
    snprintf(path, sizeof path, "%s/%s", g->dir, name);
    int status = gt_file_read(path, GT_COMPACT_MAX_TEXT, &data, &n, g->err);
    if (status < 0)
        return status;
    int shorter = g->ran ? gt_compact_ran_shorten(g->ran, name, data, n, &less) : 0;
    if (shorter < 0)
        status = gt_error_set(g->err, shorter, "%s: out of memory", path);
    else if (shorter)
        status = append(g, path, name, less.data ? less.data : "", less.len);
    else
        status = append(g, path, name, data, n);
    gt_text_free(&less);
    free(data);
    return status;
}

static bool is_left_out(const struct gather *g, const char *name)
{
    return (g->names >= NO_LINES && ends_in(name, ".dbg")) ||
           (g->names >= NO_NAMES && ends_in(name, ".sym"));
}

static int gather_all(struct gather *g)
{
    struct dirent **list;
    int status = 0, n = scandir(g->dir, &list, NULL, alphasort);
    if (n < 0)
        return gt_error_errno(g->err, errno, "%s", g->dir);
    for (int i = 0; i < n; i++) {
        if (status == 0 && is_text_file(g->dir, list[i]->d_name) &&
            !is_left_out(g, list[i]->d_name))
            status = gather_one(g, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return status;
}

static int find_end(struct gather *g, uint64_t *end)
{
    struct gt_compact_file f;
    int status = gt_compact_file_open(g->path, &f, g->err);
    if (status < 0)
        return status;
    *end = end_of_records(&f, &g->texts);
    gt_compact_file_close(&f);
    return 0;
}

static int gather_into(struct gather *g, uint64_t end)
{
    g->fd = gt_compact_lock(g->path, g->err);
    if (g->fd < 0)
        return g->fd;
    int status =
        ftruncate(g->fd, (off_t)end) == 0 ? 0 : gt_error_errno(g->err, errno, "%s", g->path);
    if (status == 0)
        status = gather_all(g);
    close(g->fd);
    return status;
}

/* The newest part's path, of any part. */
static void base_of(const char *path, const struct gt_compact_part *part, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s", path);
    if (gt_compact_part_is_named(path, part->number))
        *strrchr(out, '.') = '\0';
}

/* All files are within the limit; where names are not all there, after older parts are gone. */
static bool fits(const char *path, const struct gt_compact_part *part, uint64_t limit,
                 enum names names)
{
    char base[PATH_ROOM];
    struct stat st;
    uint64_t sum = 0;
    if (!limit || (!part->number && stat(path, &st) == 0 && (uint64_t)st.st_size <= limit))
        return true;
    if (!part->number)
        return false;
    base_of(path, part, base);
    if (names != ALL_NAMES)
        return gt_compact_set_shorten(base, part->set, part->number, 0, limit);
    return gt_compact_set_size(base, &sum) < 0 || sum <= limit;
}

static int gather_names(struct gather *g, uint64_t end, enum names names)
{
    int status = 0;
    g->names = names;
    if (names != ALL_NAMES && !g->ran)
        status = gt_compact_ran_read(g->path, g->dir, &g->ran, g->err);
    if (status == 0)
        status = gather_into(g, end);
    return status < 0 ? status : gt_compact_index_append(g->path, g->err);
}

int gt_compact_gather(const char *dir, const char *path, uint64_t limit, struct gt_error *err)
{
    struct gather g = {.dir = dir, .path = path, .err = err};
    const struct gt_compact_part part = gt_compact_part_at(path);
    bool all = part.number > 1 && !gt_compact_part_is_named(path, part.number);
    const uint64_t most = part.number ? part.limit : limit;
    uint64_t end;
    int status = find_end(&g, &end);
    bool good = false;
    for (int names = all ? ALL_NAMES : RAN_NAMES; status == 0 && !good && names <= NO_NAMES;
         names++) {
        status = gather_names(&g, end, names);
        good = status < 0 || fits(path, &part, most, names);
    }
    gt_compact_ran_free(g.ran);
    return status;
}

int gt_compact_gather_size(const char *dir, const char *path, uint64_t *bytes, struct gt_error *err)
{
    struct gather g = {.dir = dir, .path = path, .names = RAN_NAMES, .fd = -1, .err = err};
    int status = gt_compact_ran_read(path, dir, &g.ran, err);
    if (status == 0)
        status = gather_all(&g);
    gt_compact_ran_free(g.ran);
    *bytes = g.bytes;
    return status;
}

/* ---- scattering ---------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    return name[0] != '.' && !strchr(name, '/') && !is_record_file(name);
}

/* Symbols of functions that ran in either of two parts of a set, in order. */
static int join(const struct gt_uftrace_symtab *a, const struct gt_uftrace_symtab *b,
                struct gt_text *out)
{
    struct gt_uftrace_symbol *sym = calloc(a->n + b->n + 1, sizeof *sym);
    const struct gt_uftrace_module m = {b->path, b->build_id};
    size_t n = 0;
    if (!sym)
        return GT_E_NOMEM;
    for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
        bool first = k == b->n || (i < a->n && a->sym[i].addr < b->sym[k].addr);
        i += !first && i < a->n && a->sym[i].addr == b->sym[k].addr;
        sym[n++] = first ? a->sym[i++] : b->sym[k++];
    }
    int status = gt_uftrace_sym_write(out, &m, sym, n, NULL);
    free(sym);
    return status;
}

/* Adds the symbols that the directory has of an earlier part, of the same program. */
static int join_symbols(const char *path, const char *data, size_t size, struct gt_text *out)
{
    struct gt_uftrace_symtab earlier, own;
    char *old;
    size_t n;
    int status = gt_file_read(path, GT_COMPACT_MAX_TEXT, &old, &n, NULL);
    if (status < 0)
        return 0;
    status = gt_uftrace_sym_read(old, n, &earlier, NULL);
    free(old);
    if (status < 0)
        return 0;
    if (gt_uftrace_sym_read(data, size, &own, NULL) == 0) {
        if (strcmp(own.path, earlier.path) == 0 && strcmp(own.build_id, earlier.build_id) == 0)
            status = join(&earlier, &own, out);
        gt_uftrace_symtab_free(&own);
    }
    gt_uftrace_symtab_free(&earlier);
    return status;
}

static bool is_symbols(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".sym") == 0;
}

static int scatter_one(struct gt_compact_file *f, size_t i, const char *dir, struct gt_error *err)
{
    char name[GT_COMPACT_MAX_NAME + 1], path[PATH_ROOM], *data;
    const uint8_t *payload;
    size_t size;
    int status = gt_compact_file_name(f, i, name, err);
    if (status < 0)
        return status;
    if (!is_name(name))
        return gt_error_set(err, GT_E_FORMAT, "%s: a text file's name is not a file name", f->path);
    status = gt_compact_file_payload(f, i, &payload, err);
    if (status < 0)
        return status;
    status = gt_compact_text_read(&f->block[i].head, payload, &data, &size);
    if (status < 0)
        return gt_error_set(err, status, "%s: %s: it cannot be unpacked", f->path, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    struct gt_text joined = {0};
    if (f->n_members && is_symbols(name) && join_symbols(path, data, size, &joined) < 0)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
    if (status == 0 && joined.len)
        status = gt_file_replace_text(path, &joined, err);
    else if (status == 0)
        status = gt_file_replace(path, data, size, err);
    gt_text_free(&joined);
    free(data);
    return status;
}

/* A name that is damaged itself is one of these only by chance. */
static bool can_be_mended(const char *name)
{
    return strcmp(name, "info") == 0 || strcmp(name, "task.txt") == 0 ||
           strcmp(name, GT_STATS_FILE) == 0 || ends_in(name, ".sym") || ends_in(name, ".dbg") ||
           (strncmp(name, "sid-", 4) == 0 && ends_in(name, ".map"));
}

/* An earlier block of that name is better than none. */
static int stand_in(const struct gt_compact_file *f, size_t i, const char *dir,
                    struct gt_error *err)
{
    char name[GT_COMPACT_MAX_NAME + 1], path[PATH_ROOM];
    if (gt_compact_file_name(f, i, name, NULL) < 0 || !is_name(name) || !can_be_mended(name))
        return 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0 ? 0 : gt_file_replace(path, "", 0, err);
}

static void report_gaps(const struct gt_compact_file *f, const struct gt_error_notices *notices)
{
    for (size_t i = 0; i < f->n_gaps; i++) {
        uint64_t at;
        const char *path = gt_compact_file_place(f, f->gap[i].at, &at);
        gt_error_notice(notices, GT_COMPACT_GAP_NOTICE, path, at, f->gap[i].size);
    }
}

static int scatter_all(struct gt_compact_file *f, const char *dir, bool repairs,
                       const struct gt_error_notices *notices, struct gt_error *err)
{
    int status = 0;
    for (size_t i = 0; i < f->n && status == 0; i++) {
        struct gt_error why = {0};
        if (f->block[i].head.type != GT_COMPACT_FILE)
            continue;
        status = scatter_one(f, i, dir, &why);
        if (status == GT_E_FORMAT || status == GT_E_TRUNC) {
            gt_error_notice(notices, "%s; the text file is left out", why.text);
            status = repairs ? stand_in(f, i, dir, err) : 0;
        } else if (status < 0) {
            gt_error_set(err, status, "%s", why.text);
        }
    }
    return status;
}

/* In order: of a name the last one stays. The newest part has names of all; where it is missing,
 * each of the others has the names of functions that ran in it. */
int gt_compact_scatter(const char *path, const char *dir, bool repairs,
                       const struct gt_error_notices *notices, struct gt_error *err)
{
    struct gt_compact_file f;
    int status = gt_compact_file_open(path, &f, err);
    if (status == GT_E_NOT_FOUND)
        status = gt_compact_set_open(path, &f, err);
    if (status < 0)
        return status;
    if (repairs)
        report_gaps(&f, notices);
    status = scatter_all(&f, dir, repairs, notices, err);
    gt_compact_file_close(&f);
    return status;
}
