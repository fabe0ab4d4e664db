/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions as patterns see them: see function.h. */
#include "calls/recorder/output/function.h"
#include "calls/recorder/recorder.h"
#include "guest/elf/demangle_name.h"
#include "qemu/support/code_modules.h"

#include <string.h>

static char *keep_text(struct gt_support_arena *arena, const char *text)
{
    char *copy = gt_support_arena_take(arena, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* The forms of a mangled name. */
static const char *const *other_names(struct gt_support_arena *arena, const char *name)
{
    char shown[GT_DEMANGLED_MAX + 1];
    if (!gt_elf_demangle_name(name, shown))
        return NULL;
    const char **also = gt_support_arena_take(arena, 3 * sizeof *also);
    char *whole = keep_text(arena, shown);
    shown[gt_elf_demangled_without_parameters(shown)] = '\0';
    char *bare = keep_text(arena, shown);
    if (!also || !whole || !bare)
        return NULL;
    also[0] = whole;
    also[1] = bare;
    return also;
}

/* A machine's kernel is in the upper half, or at a level above programs'. */
static bool is_kernel(const struct gt_recorder *r, uint64_t addr, const unsigned *level)
{
    if (level && r->levels.privilege)
        return r->levels.privilege->rank[*level] > 0;
    return r->guest.arch->bits == 64 && addr >> 63;
}

void gt_recorder_function_describe(const struct gt_recorder *r,
                                   const struct gt_support_module *module, uint64_t addr,
                                   const unsigned *level, struct gt_filter_function *out)
{
    *out = (struct gt_filter_function){
        .module = module ? module->path : NULL, .address = addr, .file_address = addr};
    if (module && module->symbols)
        out->file_address = addr - module->lo + module->symbols->load_base;
    out->kernel = is_kernel(r, addr, level);
    if (level && r->levels.privilege)
        out->level = r->levels.privilege->names[*level];
}

/* NULL: it has no name. */
static const char *symbol_of(const struct gt_support_module *module, const struct gt_track_func *fn,
                             struct gt_filter_function *out)
{
    out->size = fn->hi - fn->lo;
    if (module->recognised)
        return gt_support_code_module_name(module, fn);
    const struct gt_elf_symbol *s =
        module->symbols ? gt_elf_symbols_find(module->symbols, fn->lo - module->lo) : NULL;
    out->plt = s && s->type == 'P';
    if (s && s->type == 'e') /* it is an unwind table's: a reader sees no size of such code */
        out->size = 0;
    return s ? s->name : NULL;
}

void gt_recorder_function_add_names(const struct gt_support_module *module,
                                    const struct gt_track_func *fn, struct gt_support_arena *arena,
                                    struct gt_filter_function *out)
{
    out->name = symbol_of(module, fn, out);
    if (out->name)
        out->also = other_names(arena, out->name);
}
