/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What readers need to know of a recording with values: NAME.dbg of each module, for uftrace, and
 * GT_VALUES_FILE. Readers look at formats and sizes only, so that arguments are numbered in the
 * order of their values.
 */
#include "calls/recorder/recorder.h"
#include "calls/recorder/values/arguments.h"
#include "recording/directory/dir.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* Modules of the same file are one, wherever they were: a library in several processes, a kernel
 * before and after it has switched its memory management on. */
static int compare_modules(const struct gt_support_module *x, const struct gt_support_module *y)
{
    const char *id = x->symbols ? x->symbols->build_id : "";
    const char *other = y->symbols ? y->symbols->build_id : "";
    int order = strcmp(x->path, y->path);
    return order ? order : strcmp(id, other);
}

static int compare(gconstpointer a, gconstpointer b)
{
    const struct gt_recorder_argument_function *x =
        *(struct gt_recorder_argument_function *const *)a;
    const struct gt_recorder_argument_function *y =
        *(struct gt_recorder_argument_function *const *)b;
    uint64_t at = x->fn->lo - x->module->lo, other = y->fn->lo - y->module->lo;
    int order = compare_modules(x->module, y->module);
    return order ? order : at < other ? -1 : at > other;
}

/* uftrace's words of an item. */
static void put_item(GString *out, const struct gt_value_item *item, unsigned number)
{
    char format = item->format;
    if (item->is_return)
        g_string_append(out, "retval");
    else
        g_string_append_printf(out, "arg%u", number);
    if (gt_value_is_text(format))
        g_string_append_printf(out, "/%c", format == GT_VALUE_CHARS ? 's' : format);
    else if (format == GT_VALUE_STRUCT)
        g_string_append_printf(out, "/t%u:%s", item->size, item->type ? item->type : "struct");
    else if (format == GT_VALUE_FLOAT && item->size == 16) /* it knows none of this size */
        g_string_append_printf(out, "/t%u:float128", item->size);
    else if (format == GT_VALUE_ENUM)
        g_string_append_printf(out, "/d%u", item->size * 8);
    else if (format == GT_VALUE_OCTAL) /* uftrace 0.13 knows no /o */
        g_string_append_printf(out, "/x%u", item->size * 8);
    else if (format == GT_VALUE_BOOL)
        g_string_append_printf(out, "/u%u", item->size * 8);
    else if (format == GT_VALUE_POINTER || format == GT_VALUE_CHAR)
        g_string_append_printf(out, "/%c", format);
    else
        g_string_append_printf(out, "/%c%u", format, item->size * 8);
}

static char *items_text(const struct gt_recorder_argument_function *f, bool returns)
{
    GString *out = g_string_new("@");
    size_t from = returns ? f->spec.n_arguments : 0;
    size_t n = returns ? f->spec.n_returns : f->spec.n_arguments;
    for (size_t i = 0; i < n; i++) {
        if (i)
            g_string_append_c(out, ',');
        put_item(out, &f->spec.item[from + i], (unsigned)i + 1);
    }
    return g_string_free(out, FALSE);
}

static void add_function(GArray *items, GPtrArray *texts,
                         const struct gt_recorder_argument_function *f)
{
    struct gt_uftrace_dbg item[3] = {{GT_UFTRACE_DBG_FUNC, f->fn->lo - f->module->lo, 0, f->name}};
    guint n = 1;
    for (int returns = 0; returns < 2; returns++) {
        if (!(returns ? f->spec.n_returns : f->spec.n_arguments))
            continue;
        char *text = items_text(f, returns);
        g_ptr_array_add(texts, text);
        item[n++] =
            (struct gt_uftrace_dbg){returns ? GT_UFTRACE_DBG_RET : GT_UFTRACE_DBG_ARGS, 0, 0, text};
    }
    g_array_append_vals(items, item, n);
}

/* The functions [from, to), of one module. */
static int write_module(struct gt_recorder *r, const GPtrArray *all, guint from, guint to,
                        struct gt_error *err)
{
    const struct gt_recorder_argument_function *first = all->pdata[from];
    const struct gt_support_module *m = first->module;
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_dbg));
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = from; i < to; i++)
        add_function(items, texts, all->pdata[i]);
    const struct gt_uftrace_module module = {.path = m->path,
                                             .build_id = m->symbols ? m->symbols->build_id : NULL};
    int status = gt_uftrace_dir_put_debug(&r->output.dir, &module,
                                          (const struct gt_uftrace_dbg *)(const void *)items->data,
                                          items->len, err);
    g_array_free(items, TRUE);
    return status;
}

/* The end of the functions, from `from` on, that are of one module. */
static guint end_of(const GPtrArray *all, guint from)
{
    const struct gt_recorder_argument_function *first = all->pdata[from];
    guint to = from + 1;
    while (to < all->len &&
           compare_modules(((struct gt_recorder_argument_function *)all->pdata[to])->module,
                           first->module) == 0)
        to++;
    return to;
}

/* One function an address, whatever number of places the module had: without the others. */
static GPtrArray *distinct(const GPtrArray *all)
{
    GPtrArray *out = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++)
        if (!i || compare(&all->pdata[i - 1], &all->pdata[i]) != 0)
            g_ptr_array_add(out, all->pdata[i]);
    return out;
}

/* Where the module of the functions [from, to) was. */
static GArray *bases_of(const GPtrArray *all, const struct gt_support_module *m)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint i = 0; i < all->len; i++) {
        const struct gt_support_module *other =
            ((struct gt_recorder_argument_function *)all->pdata[i])->module;
        uint64_t lo = other->lo & GT_UFTRACE_ADDR_MASK;
        bool known = compare_modules(m, other) != 0;
        for (guint k = 0; k < out->len && !known; k++)
            known = g_array_index(out, uint64_t, k) == lo;
        if (!known)
            g_array_append_val(out, lo);
    }
    return out;
}

static int put_values(struct gt_recorder *r, const struct gt_value_module *modules, size_t n,
                      struct gt_error *err)
{
    const struct gt_values values = {.module = (struct gt_value_module *)modules,
                                     .n_modules = n,
                                     .enums = r->arguments.values.enums,
                                     .n_enums = r->arguments.values.n_enums};
    struct gt_text text = {0};
    int status = gt_values_write(&text, &values, false, err);
    if (status == 0)
        status = gt_uftrace_dir_put_text(&r->output.dir, GT_VALUES_FILE, &text, err);
    gt_text_free(&text);
    return status;
}

static void free_array(gpointer array)
{
    g_array_free(array, TRUE);
}

/* `all`: functions of the same address, too. */
static int write_values(struct gt_recorder *r, const GPtrArray *all, const GPtrArray *some,
                        struct gt_error *err)
{
    GArray *functions = g_array_new(FALSE, TRUE, sizeof(struct gt_value_function));
    GArray *modules = g_array_new(FALSE, TRUE, sizeof(struct gt_value_module));
    g_autoptr(GPtrArray) bases = g_ptr_array_new_with_free_func(free_array);
    for (guint i = 0; i < some->len; i++) {
        const struct gt_recorder_argument_function *f = some->pdata[i];
        const struct gt_value_function one = {f->fn->lo - f->module->lo, f->name, f->spec};
        g_array_append_val(functions, one);
    }
    for (guint i = 0, to; i < some->len; i = to) {
        const struct gt_support_module *m =
            ((struct gt_recorder_argument_function *)some->pdata[i])->module;
        to = end_of(some, i);
        GArray *base = bases_of(all, m);
        g_ptr_array_add(bases, base);
        const struct gt_value_module one = {m->path,
                                            m->symbols ? m->symbols->build_id : "",
                                            &g_array_index(functions, struct gt_value_function, i),
                                            to - i,
                                            (const uint64_t *)(const void *)base->data,
                                            base->len};
        g_array_append_val(modules, one);
    }
    int status = put_values(r, (const struct gt_value_module *)(const void *)modules->data,
                            modules->len, err);
    g_array_free(functions, TRUE);
    g_array_free(modules, TRUE);
    return status;
}

int gt_recorder_arguments_write(struct gt_recorder *r, struct gt_error *err)
{
    GPtrArray *all = r->arguments.used;
    int status = 0;
    if (!r->arguments.on || !all->len)
        return 0;
    g_ptr_array_sort(all, compare);
    g_autoptr(GPtrArray) some = distinct(all);
    for (guint i = 0, to; i < some->len && status == 0; i = to) {
        to = end_of(some, i);
        status = write_module(r, some, i, to, err);
    }
    return status < 0 ? status : write_values(r, all, some, err);
}
