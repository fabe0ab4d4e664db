/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles a name: see demangle_name.h. */
#include "guest/elf/demangle_name.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* What libiberty has said so far of a name. */
struct work {
    size_t len;
    char *text; /* GT_DEMANGLED_MAX bytes and a NUL */
    jmp_buf too_long;
};

/* libiberty keeps all that it has on its stack, so that it can be left here. */
static void take(const char *text, size_t n, void *user)
{
    struct work *w = user;
    if (n > GT_DEMANGLED_MAX - w->len)
        longjmp(w->too_long, 1);
    memcpy(w->text + w->len, text, n);
    w->len += n;
}

static bool demangle(struct work *w, const char *name)
{
    const int options = DMGL_PARAMS | DMGL_ANSI;
    w->len = 0;
    if (setjmp(w->too_long))
        return false;
    if (rust_demangle_callback(name, options, take, w))
        return true;
    w->len = 0;
    return cplus_demangle_v3_callback(name, options, take, w);
}

bool gt_demangle_name(const char *name, char out[GT_DEMANGLED_MAX + 1])
{
    struct work w = {.text = out};
    if (name[0] != '_' || !demangle(&w, name) || !w.len || memchr(out, '\0', w.len))
        return false;
    out[w.len] = '\0';
    return true;
}

size_t gt_demangled_without_parameters(const char *name)
{
    size_t n = strlen(name);
    int open = 0;
    for (size_t i = n; i-- > 0;) {
        open += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
        if (name[i] == '(' && open == 0)
            return i;
    }
    return n;
}
