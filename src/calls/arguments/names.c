/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names objects: the built-in table of the kernel's, and a user's file. */
#include "calls/arguments/spec_private.h"

#include "base/cursor.h"
#include "base/file.h"
#include "calls/arguments/fields.h"

#include <string.h>

/* Members that have had these places for ten years and more; a kernel without one has no value. */
static const struct gt_arguments_object_name table[] = {
    {"file", "name", "f_path.dentry->d_name.name"},
    {"path", "name", "dentry->d_name.name"},
    {"dentry", "name", "d_name.name"},
    {"qstr", "name", "name"},
    {"inode", "ino", "i_ino"},
    {"super_block", "name", "s_id"},
    {"filename", "name", "name"},
    {"task_struct", "comm", "comm"},
    {"sk_buff", "len", "len"},
    {"net_device", "name", "name"},
    {"module", "name", "name"},
    {"kobject", "name", "name"},
    {"device_driver", "name", "name"},
    {"linux_binprm", "name", "filename"},
    {"file_system_type", "name", "name"},
};

static const struct gt_arguments_object_name *find(const struct gt_arguments_object_name *rows,
                                                   size_t n, const char *type, size_t *i)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(rows[k].type, type) == 0 && (*i)-- == 0)
            return &rows[k];
    return NULL;
}

const struct gt_arguments_object_name *
gt_arguments_object_name_at(const struct gt_arguments *a, bool kernel, const char *type, size_t i)
{
    const struct gt_arguments_object_name *own =
        (const struct gt_arguments_object_name *)(const void *)a->names->data;
    size_t left = i;
    const struct gt_arguments_object_name *row = find(own, a->names->len, type, &left);
    if (row || left < i || !kernel)
        return row;
    return find(table, G_N_ELEMENTS(table), type, &left);
}

static bool is_word(const char *text, const char *more)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n && (!text[n] || (strchr(more, text[n]) && strlen(text) < 200));
}

/* NULL, or the expected form. */
static const char *read_line(struct gt_arguments *a, char *line)
{
    char *comment = strchr(line, '#');
    if (comment)
        *comment = 0;
    g_auto(GStrv) word = g_strsplit_set(g_strstrip(line), " \t", 0);
    char *field[4] = {NULL};
    size_t n = 0;
    for (char **w = word; *w; w++)
        if (**w && n < G_N_ELEMENTS(field))
            field[n++] = *w;
    if (n == 0)
        return NULL;
    if (n != 3)
        return "STRUCT NAME PATH";
    if (!is_word(field[0], "") || !is_word(field[1], ""))
        return "a struct's name, and a name to show";
    if (!is_word(field[2], ".-"))
        return "a member's path, as f_path.dentry->d_name.name";
    struct gt_arguments_object_name row = {g_strdup(field[0]), g_strdup(field[1]),
                                           g_strdup(field[2])};
    g_ptr_array_add(a->owned, (char *)row.type);
    g_ptr_array_add(a->owned, (char *)row.name);
    g_ptr_array_add(a->owned, (char *)row.path);
    g_array_append_val(a->names, row);
    return NULL;
}

enum { FILE_MOST = 1 << 20 };

int gt_arguments_read_names(struct gt_arguments *a, const char *path, struct gt_error *err)
{
    char *text;
    size_t size;
    int status = gt_file_read(path, FILE_MOST, &text, &size, err);
    if (status < 0)
        return status;
    struct gt_text_cursor all = {text, size}, line;
    bool whole;
    for (size_t number = 1; status == 0 && gt_text_take_line(&all, &line, &whole); number++) {
        g_autofree char *copy = g_strndup(line.at, line.left);
        g_autofree char *shown = g_strndup(line.at, MIN(line.left, 60));
        const char *expected = read_line(a, copy);
        if (expected)
            status = gt_error_set(err, GT_E_FORMAT, "%s:%zu: '%s': expected %s", path, number,
                                  shown, expected);
    }
    free(text);
    return status;
}
