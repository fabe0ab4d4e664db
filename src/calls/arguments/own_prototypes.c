/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prototypes in files of users: C declarations, which may use the types of the C library's table.
 */
#include "calls/arguments/auto_private.h"

#include "base/file.h"
#include "guest/types/declarations.h"
#include "guest/types/prototypes.h"

#include <stdlib.h>

enum { FILE_MOST = 16 << 20 };

struct own_file {
    char *path, *text;
    size_t size;
};

static void free_file(void *item)
{
    struct own_file *f = item;
    g_free(f->path);
    free(f->text);
    g_free(f);
}

int gt_arguments_auto_read_prototypes(struct gt_arguments_auto *a, const char *path,
                                      struct gt_error *err)
{
    struct own_file *f = g_new0(struct own_file, 1);
    int status = gt_file_read(path, FILE_MOST, &f->text, &f->size, err);
    f->path = g_strdup(path);
    if (!a->own_files)
        a->own_files = g_ptr_array_new_with_free_func(free_file);
    g_ptr_array_add(a->own_files, f);
    return status;
}

static int read_own(struct gt_arguments_auto *a, const struct gt_type_data_model *model,
                    struct gt_error *err)
{
    struct gt_type_prototypes *p = gt_type_prototypes_new(a->libc->types);
    int status = p ? 0 : gt_error_set(err, GT_E_NOMEM, "out of memory");
    for (guint i = 0; i < a->own_files->len && status == 0; i++) {
        const struct own_file *f = a->own_files->pdata[i];
        status = gt_type_declarations_read(p, model, f->path, f->text, f->size, err);
    }
    if (status == 0 && (status = gt_type_prototypes_finish(p)) < 0)
        gt_error_set(err, status, "the prototypes are too many");
    if (status == 0)
        g_ptr_array_add(a->prototypes, a->own = p);
    else
        gt_type_prototypes_free(p);
    return status;
}

int gt_arguments_auto_load_tables(struct gt_arguments_auto *a, const struct gt_abi *abi,
                                  struct gt_error *err)
{
    if (a->tables_abi == abi)
        return 0;
    a->tables_abi = abi;
    a->libc = a->own = NULL;
    int status = gt_type_libc_prototypes(abi->target, &a->libc, err);
    if (status == GT_E_UNSUPPORTED)
        return 0;
    if (status == 0)
        g_ptr_array_add(a->prototypes, a->libc);
    return status == 0 && a->own_files ? read_own(a, gt_type_data_model_of(abi->target), err)
                                       : status;
}
