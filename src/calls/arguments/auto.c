/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of whole files: see auto.h. */
#include "calls/arguments/auto_private.h"

#include "base/search.h"
#include "calls/arguments/fields.h"
#include "calls/arguments/spec.h"
#include "calls/arguments/syscalls.h"
#include "guest/abi/syscall_names.h"
#include "guest/types/btf.h"
#include "guest/types/dwarf.h"
#include "guest/types/syscalls.h"
#include "names/image/demangle.h"

#include <glib.h>
#include <string.h>

/* The file whose functions are added. */
struct file {
    const struct gt_image_symbol_source *source;
    const struct gt_abi *abi;
    const struct gt_type_prototypes *types; /* NULL: none */
    bool by_name;                           /* BTF, which has no addresses */
    const struct gt_type_prototypes *own;   /* of users; NULL: none */
    const struct gt_type_prototypes *libc;  /* NULL: it is not the C library */
};

static void free_selection(void *item)
{
    gt_filter_pattern_free(((struct gt_arguments_auto_selection *)item)->pattern);
}

static void free_prototypes(void *item)
{
    gt_type_prototypes_free(item);
}

struct gt_arguments_auto *gt_arguments_auto_new(const struct gt_error_notices *notices)
{
    struct gt_arguments_auto *a = g_new0(struct gt_arguments_auto, 1);
    a->notices = *notices;
    a->specs = gt_arguments_new();
    a->selections = g_array_new(FALSE, FALSE, sizeof(struct gt_arguments_auto_selection));
    g_array_set_clear_func(a->selections, free_selection);
    a->modules = g_array_new(FALSE, FALSE, sizeof(struct gt_arguments_auto_module));
    a->functions = g_array_new(FALSE, FALSE, sizeof(struct gt_value_function));
    a->prototypes = g_ptr_array_new_with_free_func(free_prototypes);
    a->texts = g_string_chunk_new(1 << 16);
    a->demangler = gt_image_demangler_create();
    return a;
}

void gt_arguments_auto_free(struct gt_arguments_auto *a)
{
    if (!a)
        return;
    gt_arguments_free(a->specs);
    g_array_unref(a->selections);
    g_array_unref(a->modules);
    g_array_unref(a->functions);
    g_ptr_array_unref(a->prototypes);
    if (a->own_files)
        g_ptr_array_unref(a->own_files);
    g_string_chunk_free(a->texts);
    gt_image_demangler_destroy(a->demangler);
    g_free(a);
}

int gt_arguments_auto_select(struct gt_arguments_auto *a, const char *pattern,
                             enum gt_filter_match match,
                             const struct gt_arguments_auto_request *request, size_t *at,
                             struct gt_error *err)
{
    struct gt_arguments_auto_selection s = {.request = *request};
    int status = 0;
    if (pattern)
        status = gt_filter_pattern_parse(pattern, strlen(pattern), match, &s.pattern, at, err);
    if (status == 0 && s.pattern && gt_filter_pattern_needs_lines(s.pattern)) {
        gt_filter_pattern_free(s.pattern);
        *at = 0;
        return gt_error_set(err, GT_E_USAGE, "expected a function's name or address, no line");
    }
    if (status == 0)
        g_array_append_val(a->selections, s);
    return status;
}

int gt_arguments_auto_read_names(struct gt_arguments_auto *a, const char *path,
                                 struct gt_error *err)
{
    return gt_arguments_read_names(a->specs, path, err);
}

bool gt_arguments_auto_wanted(const struct gt_arguments_auto *a)
{
    return a->selections->len > 0;
}

size_t gt_arguments_auto_count(const struct gt_arguments_auto *a)
{
    return a->functions->len;
}

/* ---- one function -------------------------------------------------------------------------- */

/* The values wanted of it; *named: a pattern selects it, not just "all". */
static struct gt_arguments_auto_request wanted_of(const struct gt_arguments_auto *a,
                                                  const struct file *f,
                                                  const struct gt_image_source_part *part,
                                                  const struct gt_image_source_function *fn,
                                                  bool *named)
{
    const char *shown = gt_image_demangle(a->demangler, fn->name);
    const char *const also[] = {shown, NULL};
    const struct gt_filter_function what = {.name = fn->name,
                                            .also = shown != fn->name ? also : NULL,
                                            .module = part->path,
                                            .address = fn->addr,
                                            .file_address = fn->addr,
                                            .size = fn->size,
                                            .kernel = f->source->kind != GT_SOURCE_ELF};
    struct gt_arguments_auto_request sum = {0};
    *named = false;
    for (guint i = 0; i < a->selections->len; i++) {
        const struct gt_arguments_auto_selection *s =
            &g_array_index(a->selections, struct gt_arguments_auto_selection, i);
        if (s->pattern && !gt_filter_pattern_match(s->pattern, &what))
            continue;
        sum.all |= s->request.all;
        sum.fields |= s->request.fields;
        *named |= s->pattern != NULL;
    }
    return sum;
}

/* What the library chooses for a processor: __memset_avx2_unaligned_erms is a memset. */
static const struct gt_type_prototype *chosen_in_libc(const struct file *f, const char *name)
{
    static const char *const processors[] = {"asimd", "avx", "evex", "falkor", "generic", "kunpeng",
                                             "mte",   "sse", "ssse", "sve",    "thunderx"};
    const char *end = g_str_has_prefix(name, "__") ? strchr(name + 2, '_') : NULL;
    bool known = false;
    for (size_t i = 0; end && i < G_N_ELEMENTS(processors); i++)
        known |= g_str_has_prefix(end + 1, processors[i]);
    if (!known)
        return NULL;
    g_autofree char *function = g_strndup(name + 2, (gsize)(end - name - 2));
    return gt_type_prototypes_named(f->libc, function);
}

/* By its name, or another name of its address, which may be the main one. `all`: names of the file
 * alone, too; a table of a library has the names of its interface. */
static const struct gt_type_prototype *in_table(const struct gt_type_prototypes *table,
                                                const struct file *f,
                                                const struct gt_image_source_function *fn, bool all)
{
    const struct gt_elf_symbols *s = f->source->symbols;
    const struct gt_type_prototype *p =
        fn->type == 't' && !all ? NULL : gt_type_prototypes_named(table, fn->name);
    if (!s)
        return p;
    uint64_t rel = fn->addr - s->load_base;
    for (size_t i = GT_SEARCH_BELOW(s->alias, s->n_alias, addr, rel);
         !p && i < s->n_alias && s->alias[i].addr == rel; i++)
        if (s->alias[i].type != 't' || all)
            p = gt_type_prototypes_named(table, s->alias[i].name);
    return p;
}

/* NULL: not known. *types: the ones that it is of. */
static const struct gt_type_prototype *prototype_of(const struct file *f,
                                                    const struct gt_image_source_function *fn,
                                                    const struct gt_type_prototypes **types)
{
    const struct gt_type_prototype *p = NULL;
    *types = f->types;
    if (f->types)
        p = f->by_name ? gt_type_prototypes_named(f->types, fn->name)
                       : gt_type_prototypes_at(f->types, fn->addr);
    if (!p && f->own) {
        *types = f->own;
        p = in_table(f->own, f, fn, true);
    }
    if (p || !f->libc)
        return p;
    *types = f->libc;
    p = in_table(f->libc, f, fn, false);
    return p ? p : chosen_in_libc(f, fn->name);
}

/* Arguments that no option asked for go. */
static void keep_requested(struct gt_value_spec *spec, uint32_t fields)
{
    size_t n = 0;
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct gt_value_item *item = &spec->item[i];
        if (!item->is_float && item->number < 32 && fields >> item->number & 1)
            spec->item[n++] = *item;
    }
    spec->n_arguments = n;
    spec->n_returns = 0;
}

enum { WORDS = 4 }; /* of a function without a prototype */

static bool fill_spec(struct gt_arguments_auto *a, const struct file *f,
                      const struct gt_image_source_part *part,
                      const struct gt_image_source_function *fn, struct gt_value_spec *out)
{
    const struct gt_type_prototypes *types;
    bool named;
    struct gt_arguments_auto_request want = wanted_of(a, f, part, fn, &named);
    if (!want.all && !want.fields)
        return false;
    const struct gt_type_prototype *p = prototype_of(f, fn, &types);
    if (!p && named && want.all)
        gt_arguments_words(a->specs, f->abi, WORDS, out);
    if (!p)
        return named && want.all;
    gt_arguments_by_prototype(a->specs, f->abi, types, p, out);
    if (!want.all)
        keep_requested(out, want.fields);
    for (unsigned i = 1; i < 32; i++)
        if (want.fields >> i & 1)
            gt_arguments_add_members(a->specs, types, p, i, out);
    gt_arguments_add_names(a->specs, types, p, f->source->kind != GT_SOURCE_ELF, out);
    return out->n_arguments + out->n_returns > 0;
}

static bool make_spec(struct gt_arguments_auto *a, const struct file *f,
                      const struct gt_image_source_part *part,
                      const struct gt_image_source_function *fn, struct gt_value_spec *out)
{
    bool some = fill_spec(a, f, part, fn, out);
    if (out->item)
        gt_arguments_keep(a->specs, out);
    return some;
}

/* ---- files --------------------------------------------------------------------------------- */

static void add_part(struct gt_arguments_auto *a, const struct file *f,
                     const struct gt_image_source_part *part, uint64_t base)
{
    struct gt_arguments_auto_module m = {.first = a->functions->len};
    for (size_t i = 0; i < part->n; i++) {
        const struct gt_image_source_function *fn = &part->function[i];
        struct gt_value_function to = {.addr = fn->addr - base};
        if (fn->type == 'P' || fn->unnamed || !make_spec(a, f, part, fn, &to.spec))
            continue;
        to.name = g_string_chunk_insert(a->texts, fn->name);
        g_array_append_val(a->functions, to);
    }
    m.n = a->functions->len - m.first;
    m.path = g_string_chunk_insert(a->texts, part->path);
    m.build_id = g_string_chunk_insert(a->texts, f->source->build_id);
    if (m.n)
        g_array_append_val(a->modules, m);
}

/* Programs may have a function `index` of their own: the table is for the library's files, and for
 * programs that have it in them. */
static bool has_libc(const struct gt_image_symbol_source *s)
{
    static const char *const names[] = {"libc.",  "libc-",  "libm.",  "libm-",  "libpthread",
                                        "libdl.", "libdl-", "librt.", "librt-", "ld-musl"};
    g_autofree char *base = g_path_get_basename(s->file);
    uint64_t rel;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_has_prefix(base, names[i]))
            return true;
    for (size_t i = 0; i < s->symbols->n_sym; i++)
        if (s->symbols->sym[i].type == 'P')
            return false; /* it calls a library */
    return gt_elf_symbols_by_name(s->symbols, "__libc_start_main", &rel);
}

static int load_tables(struct gt_arguments_auto *a, struct file *f, struct gt_error *err)
{
    int status = gt_arguments_auto_load_tables(a, f->abi, err);
    f->own = a->own;
    return status;
}

/* Reports types that are there and cannot be used; returns the status. */
static int prototypes_read(const struct gt_arguments_auto *a, int status,
                           const struct gt_error *err)
{
    if (status < 0 && status != GT_E_NOT_FOUND && status != GT_E_NOMEM)
        gt_error_notice(&a->notices, "%s; values of its functions are not recorded", err->text);
    return status;
}

static int add_elf(struct gt_arguments_auto *a, const struct gt_image_symbol_source *s,
                   bool in_process, struct gt_error *err)
{
    struct file f = {.source = s, .abi = gt_abi_by_elf(s->symbols->e_machine, s->symbols->bits)};
    struct gt_type_prototypes *types = NULL;
    if (!f.abi)
        return 0;
    int status = load_tables(a, &f, err);
    if (status < 0)
        return status;
    status = gt_type_dwarf_prototypes(s->opened, NULL, &types, err);
    if (status == 0)
        g_ptr_array_add(a->prototypes, types);
    if (prototypes_read(a, status, err) == GT_E_NOMEM)
        return status;
    f.types = types;
    f.libc = has_libc(s) ? a->libc : NULL;
    for (size_t i = 0; i < s->n_parts; i++)
        add_part(a, &f, &s->part[i], in_process ? s->symbols->load_base : s->part[i].lo);
    return 0;
}

/* BTF, or a vmlinux's DWARF. */
static int add_kernel(struct gt_arguments_auto *a, const struct gt_image_symbol_source *s,
                      struct gt_error *err)
{
    struct file f = {.source = s,
                     .abi = gt_abi_of_kernel(s->kernel->e_machine, s->kernel->bits),
                     .by_name = true};
    struct gt_type_prototypes *types = NULL;
    if (!f.abi)
        return 0;
    int status = load_tables(a, &f, err);
    if (status < 0)
        return status;
    status = gt_type_btf_prototypes(s->kernel, &types, err);
    if (status == GT_E_NOT_FOUND) {
        f.by_name = false;
        status = gt_type_dwarf_prototypes(s->opened, NULL, &types, err);
    }
    if (prototypes_read(a, status, err) == GT_E_NOMEM)
        return status;
    if (status == 0) {
        g_ptr_array_add(a->prototypes, types);
        f.types = types;
        a->kernel = f.by_name ? s->kernel : NULL;
        a->kernel_types = types;
    }
    if (s->n_parts) /* further ones are modules, of which only names are known */
        add_part(a, &f, &s->part[0], s->part[0].lo);
    return 0;
}

static int add_module(struct gt_arguments_auto *a, const struct gt_image_symbol_source *s,
                      struct gt_error *err)
{
    struct file f = {
        .source = s, .abi = gt_abi_of_kernel(s->ko->e_machine, s->ko->bits), .by_name = true};
    struct gt_type_prototypes *types = NULL;
    if (!f.abi)
        return 0;
    int status = load_tables(a, &f, err);
    if (status < 0)
        return status;
    status = GT_E_NOT_FOUND;
    if (a->kernel)
        status = gt_type_btf_module_prototypes(s->ko, a->kernel, a->kernel_types, &types, err);
    if (prototypes_read(a, status, err) == GT_E_NOMEM)
        return status;
    if (status == 0) {
        g_ptr_array_add(a->prototypes, types);
        f.types = types;
    }
    for (size_t i = 0; i < s->n_parts; i++)
        add_part(a, &f, &s->part[i], s->part[i].lo);
    return 0;
}

int gt_arguments_auto_add(struct gt_arguments_auto *a, const struct gt_image_symbol_source *source,
                          bool in_process, struct gt_error *err)
{
    switch (source->kind) {
    case GT_SOURCE_KERNEL:
        return add_kernel(a, source, err);
    case GT_SOURCE_MODULE:
        return add_module(a, source, err);
    default:
        return add_elf(a, source, in_process, err);
    }
}

int gt_arguments_auto_write(const struct gt_arguments_auto *a, struct gt_text *out,
                            struct gt_error *err)
{
    struct gt_value_function *functions = (struct gt_value_function *)(void *)a->functions->data;
    g_autofree struct gt_value_module *modules = g_new0(struct gt_value_module, a->modules->len);
    struct gt_values values = {.module = modules, .n_modules = a->modules->len};
    for (guint i = 0; i < a->modules->len; i++) {
        const struct gt_arguments_auto_module *m =
            &g_array_index(a->modules, struct gt_arguments_auto_module, i);
        modules[i] = (struct gt_value_module){m->path, m->build_id, functions + m->first, m->n};
    }
    values.enums = (struct gt_value_enum *)gt_arguments_enums(a->specs, &values.n_enums);
    return gt_values_write(out, &values, true, err);
}

/* ---- system calls -------------------------------------------------------------------------- */

int gt_arguments_auto_add_syscalls(struct gt_arguments_auto *a, const char *target,
                                   struct gt_error *err)
{
    const struct gt_abi *abi = gt_abi_by_name(target);
    struct gt_arguments_auto_module m = {GT_SYSCALLS_MODULE, "", a->functions->len, 0};
    struct gt_type_prototypes *types;
    int status = gt_type_syscall_prototypes(target, &types, err);
    if (status < 0 || !abi)
        return status == GT_E_UNSUPPORTED ? 0 : status;
    g_ptr_array_add(a->prototypes, types);
    for (unsigned i = 0; i < GT_SYSCALLS_NUMBER; i++) {
        const char *name = gt_abi_syscall_name(target, i);
        const struct gt_type_prototype *p = name ? gt_type_prototypes_named(types, name) : NULL;
        struct gt_value_function to = {.addr = i * (uint64_t)GT_SYSCALLS_STEP, .name = name};
        if (!p)
            continue;
        gt_arguments_by_syscall(a->specs, abi, &gt_arguments_syscall_reported, types, p, &to.spec);
        gt_arguments_keep(a->specs, &to.spec);
        g_array_append_val(a->functions, to);
    }
    m.n = a->functions->len - m.first;
    g_array_append_val(a->modules, m);
    return 0;
}
