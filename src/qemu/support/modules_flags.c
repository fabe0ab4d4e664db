/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a function changes stacks, by its name: see modules.h. */
#include "qemu/support/modules.h"

#include <string.h>

/* Functions known by their names, with any leading underscores: those that store the state that a
 * later jump restores, and those that restore it and so may begin a coroutine. */
static uint32_t flags_of_name(const char *name)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } known[] = {
        {"setjmp", GT_FUNC_SAVER},
        {"sigsetjmp", GT_FUNC_SAVER},
        {"getcontext", GT_FUNC_SAVER},
        {"swapcontext", GT_FUNC_SAVER | GT_FUNC_RESTORER},
        {"setcontext", GT_FUNC_RESTORER | GT_FUNC_SET_CONTEXT},
        {"jump_fcontext", GT_FUNC_RESTORER},
        {"Unwind_RaiseException", GT_FUNC_UNWIND_RAISE},
        {"Unwind_Resume", GT_FUNC_UNWIND_RESUME},
        {"Unwind_ForcedUnwind", GT_FUNC_UNWIND_RESUME},
        {"Unwind_GetIP", GT_FUNC_GET_IP},
        {"Unwind_GetIPInfo", GT_FUNC_GET_IP},
        {"rust_eh_personality", GT_FUNC_PERSONALITY},
    };
    if (strncmp(name, "__GI_", 5) == 0)
        name += 5;
    name += strspn(name, "_");
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].flags;
    return strstr(name, "_personality_v") ? GT_FUNC_PERSONALITY : 0;
}

uint32_t gt_module_flags_of(const struct gt_symbol *symbol)
{
    if (symbol->type == 'e') /* that name is a file's */
        return 0;
    return (symbol->type == 'P' ? GT_FUNC_STUB : 0) | flags_of_name(symbol->name);
}
