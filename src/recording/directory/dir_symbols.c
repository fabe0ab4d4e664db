/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a module's symbols. Readers open BASE.sym and compare its path and build-id; if
 * either differs they open BASE-XXXX.sym, where XXXX is the first four digits of the build-id or,
 * without one, the low 16 bits of the sum of the path's bytes.
 */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/dir_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 320 };

/* True where the file is there and names another module. */
static bool is_anothers(const struct gt_uftrace_dir *d, const char *name, const char *path,
                        const char *build_id)
{
    char *text;
    size_t size;
    struct gt_cursor all, line;
    bool whole, other = false;
    if (gt_uftrace_dir_read_text(d, name, GT_UFTRACE_TEXT_MAX, &text, &size, NULL))
        return false;
    all = (struct gt_cursor){text, size};
    while (!other && gt_take_line(&all, &line, &whole) && gt_take(&line, "# ")) {
        if (gt_take(&line, "path name: "))
            other = line.left != strlen(path) || memcmp(line.at, path, line.left) != 0;
        else if (gt_take(&line, "build-id: ") && *build_id)
            other = line.left != strlen(build_id) || memcmp(line.at, build_id, line.left) != 0;
    }
    free(text);
    return other;
}

/* The suffix must be what readers compute: they add up plain chars, signed on most machines. */
static void add_suffix(char *name, size_t size, const char *path, const char *build_id)
{
    size_t len = strlen(name);
    uint16_t sum = 0;
    for (const char *p = path; *p; p++)
        sum = (uint16_t)(sum + (signed char)*p);
    if (*build_id)
        snprintf(name + len, size - len, "-%.4s", build_id);
    else
        snprintf(name + len, size - len, "-%04x", sum);
}

/* The name of the module's file with that extension. */
static int choose(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *m,
                  const char *extension, char name[NAME_ROOM], struct gt_error *err)
{
    char path[GT_UFTRACE_PATH_MAX], base[300];
    const char *id = m->build_id && strlen(m->build_id) <= 40 ? m->build_id : "";
    gt_uftrace_path(m->path, path, sizeof path);
    const char *slash = strrchr(path, '/');
    snprintf(base, sizeof base, "%.250s", slash ? slash + 1 : path);
    snprintf(name, NAME_ROOM, "%s.sym", base);
    if (is_anothers(d, name, path, id)) {
        add_suffix(base, sizeof base, path, id);
        snprintf(name, NAME_ROOM, "%s.sym", base);
        if (is_anothers(d, name, path, id))
            return gt_error_set(err, GT_E_EXISTS, "%s/%s: belongs to another module than %s",
                                d->path, name, path);
    }
    snprintf(name, NAME_ROOM, "%s%s", base, extension);
    return 0;
}

static int put(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *m,
               const char *extension, const struct gt_text *t, struct gt_error *err)
{
    char name[NAME_ROOM];
    int lock = gt_uftrace_dir_lock(d, err);
    if (lock < 0)
        return lock;
    int status = choose(d, m, extension, name, err);
    if (!status)
        status = gt_uftrace_dir_put_text(d, name, t, err);
    gt_uftrace_dir_unlock(lock);
    return status;
}

int gt_uftrace_dir_put_symbols(const struct gt_uftrace_dir *d,
                               const struct gt_uftrace_module *module,
                               const struct gt_uftrace_symbol *sym, size_t n, struct gt_error *err)
{
    struct gt_text t = {0};
    int status = gt_uftrace_sym_write(&t, module, sym, n, err);
    if (!status)
        status = put(d, module, ".sym", &t, err);
    gt_text_free(&t);
    return status;
}

int gt_uftrace_dir_put_debug(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *module,
                             const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err)
{
    struct gt_text t = {0};
    int status = gt_uftrace_dbg_write(&t, module, item, n, err);
    if (!status)
        status = put(d, module, ".dbg", &t, err);
    gt_text_free(&t);
    return status;
}
