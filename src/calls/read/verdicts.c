/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts of functions, as they are met: see verdicts.h. */
#include "calls/read/verdicts.h"

#include "guest/elf/demangle_name.h"
#include "names/image/demangle.h"

#include <string.h>

void gt_calls_verdicts_init(struct gt_calls_verdicts *v, const struct gt_calls *c,
                            const struct gt_filter_set *set)
{
    *v = (struct gt_calls_verdicts){.c = c, .set = set, .demangler = gt_image_demangler_create()};
    v->verdict = g_ptr_array_new_with_free_func(g_free);
}

void gt_calls_verdicts_finish(struct gt_calls_verdicts *v)
{
    gt_image_demangler_destroy(v->demangler);
    g_ptr_array_free(v->verdict, TRUE);
}

/* "FILE+0x12", "0x12": code without a symbol, whose size is not known; no symbol is named so. */
static bool is_unnamed(const char *name)
{
    const char *plus = strrchr(name, '+'), *number = plus ? plus + 1 : name;
    return number[0] == '0' && number[1] == 'x' && number[2] &&
           strspn(number + 2, "0123456789abcdef") == strlen(number + 2);
}

static struct gt_filter_verdict *make(const struct gt_calls_verdicts *v, uint32_t function,
                                      struct gt_error *err)
{
    const struct gt_calls_function *f = gt_calls_function(v->c, function);
    const char *shown = gt_image_demangle(v->demangler, f->name);
    g_autofree char *bare = g_strndup(shown, gt_elf_demangled_without_parameters(shown));
    const char *const also[] = {shown, bare, NULL};
    const struct gt_filter_function what = {
        .name = f->is_address ? NULL : f->name,
        .also = strcmp(bare, f->name) != 0 ? also : NULL,
        .module = f->module,
        .address = f->address,
        .file_address = f->address,
        .size = is_unnamed(f->name) ? 0 : f->size,
        .file = f->file,
        .line = f->line,
        .lines = f->lines,
        .plt = f->is_plt,
    };
    struct gt_filter_verdict *verdict = g_new(struct gt_filter_verdict, 1);
    int status = gt_filter_verdict(v->set, &what, verdict);
    if (status == 0)
        return verdict;
    gt_error_set(err, status,
                 status == GT_E_RANGE ? "%s: more than 32 triggers for it have actions"
                                      : "%s: out of memory",
                 f->name);
    g_free(verdict);
    return NULL;
}

const struct gt_filter_verdict *gt_calls_verdicts_get(struct gt_calls_verdicts *v,
                                                      uint32_t function, struct gt_error *err)
{
    if (function >= v->verdict->len)
        g_ptr_array_set_size(v->verdict, (gint)function + 1);
    if (!v->verdict->pdata[function])
        v->verdict->pdata[function] = make(v, function, err);
    return v->verdict->pdata[function];
}
