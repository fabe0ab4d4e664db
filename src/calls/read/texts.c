/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files of a recording: see texts.h. */
#include "calls/read/texts.h"

#include "base/file.h"
#include "calls/file/work.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TEXT_LIMIT ((size_t)1 << 30)

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_directory(struct gt_calls_texts *t, struct gt_error *err)
{
    errno = 0;
    GDir *dir = g_dir_open(t->path, 0, NULL);
    if (!dir)
        return gt_error_errno(err, errno ? errno : ENOENT, "%s", t->path);
    for (const char *name; (name = g_dir_read_name(dir));)
        if (name[0] != '.')
            g_ptr_array_add(t->names, g_strdup(name));
    g_dir_close(dir);
    return 0;
}

/* 0; 1: the block is damaged, and reported. */
static int check_block(const struct gt_calls_texts *t, size_t i, char name[GT_COMPACT_MAX_NAME + 1],
                       struct gt_compact_buffer *buffer, const struct gt_error_notices *notices,
                       struct gt_error *err)
{
    const uint8_t *payload;
    struct gt_error why = {0};
    bool named = gt_compact_file_name(t->file, i, name, &why) == 0;
    int status = gt_compact_file_read(t->file, i, buffer, &payload, &why);
    if (status == 0 && !named)
        status = GT_E_FORMAT;
    if (status == 0)
        return 0;
    if (status != GT_E_FORMAT && status != GT_E_TRUNC)
        return gt_error_set(err, status, "%s", why.text);
    gt_error_notice(notices, "%s; %s is left out", why.text, named ? name : "a text file");
    return 1;
}

static int list_blocks(struct gt_calls_texts *t, const struct gt_error_notices *notices,
                       struct gt_error *err)
{
    char name[GT_COMPACT_MAX_NAME + 1];
    struct gt_compact_buffer buffer = {0};
    int status = 0;
    for (size_t i = t->file->own; i < t->file->n && status >= 0; i++) {
        if (t->file->block[i].head.type != GT_COMPACT_FILE)
            continue;
        status = check_block(t, i, name, &buffer, notices, err);
        if (status != 0)
            continue;
        if (!g_hash_table_contains(t->block, name) && name[0] != '.')
            g_ptr_array_add(t->names, g_strdup(name));
        g_hash_table_replace(t->block, g_strdup(name), GSIZE_TO_POINTER(i + 1));
    }
    gt_compact_buffer_free(&buffer);
    return status < 0 ? status : 0;
}

/* Of a compact file that is being recorded: the directory beside it; NULL: there is none. */
static char *directory_beside(const char *path)
{
    struct gt_compact_work work;
    if (gt_compact_work_name(path, &work, NULL) < 0 || !gt_compact_work_exists(&work) ||
        gt_compact_flight_is(work.dir.path)) /* then the file is a snapshot */
        return NULL;
    return g_strdup(work.dir.path);
}

int gt_calls_texts_open(struct gt_calls_texts *t, const char *path,
                        const struct gt_compact_file *file, const struct gt_error_notices *notices,
                        struct gt_error *err)
{
    *t = (struct gt_calls_texts){.path = path, .file = file};
    t->beside = file ? directory_beside(path) : NULL;
    if (t->beside) {
        t->path = t->beside;
        t->file = NULL;
    }
    t->names = g_ptr_array_new_with_free_func(g_free);
    t->block = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int status = t->file ? list_blocks(t, notices, err) : list_directory(t, err);
    g_ptr_array_sort(t->names, compare_names);
    return status;
}

void gt_calls_texts_close(struct gt_calls_texts *t)
{
    if (t->names)
        g_ptr_array_free(t->names, TRUE);
    if (t->block)
        g_hash_table_destroy(t->block);
    g_free(t->beside);
    *t = (struct gt_calls_texts){0};
}

bool gt_calls_texts_have(const struct gt_calls_texts *t, const char *name)
{
    return g_ptr_array_find_with_equal_func(t->names, name, g_str_equal, NULL);
}

static int read_block(const struct gt_calls_texts *t, const char *name, char **data, size_t *size,
                      struct gt_error *err)
{
    size_t i = GPOINTER_TO_SIZE(g_hash_table_lookup(t->block, name));
    if (i == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: it has no %s", t->path, name);
    const struct gt_compact_block *b = &t->file->block[i - 1];
    struct gt_compact_buffer buffer = {0};
    const uint8_t *payload = NULL;
    uint64_t at;
    const char *path = gt_compact_file_place(t->file, b->at, &at);
    int status = gt_compact_file_read(t->file, i - 1, &buffer, &payload, err);
    if (status == 0 && (status = gt_compact_text_read(&b->head, payload, data, size)) < 0)
        gt_error_set(err, status, "%s: offset %" PRIu64 ": %s: %s", path, at, name,
                     status == GT_E_NOMEM ? "out of memory" : "its contents are damaged");
    gt_compact_buffer_free(&buffer);
    return status;
}

int gt_calls_texts_read(const struct gt_calls_texts *t, const char *name, char **data, size_t *size,
                        struct gt_error *err)
{
    if (t->file)
        return read_block(t, name, data, size, err);
    g_autofree char *path = g_build_filename(t->path, name, NULL);
    return gt_file_read(path, TEXT_LIMIT, data, size, err);
}

char *gt_calls_texts_place(const struct gt_calls_texts *t, const char *name)
{
    return g_strconcat(t->path, t->file ? ": " : "/", name, NULL);
}
