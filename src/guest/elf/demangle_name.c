/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles a name: see demangle_name.h. */
#include "guest/elf/demangle_name.h"

#include "base/fnv.h"

#include <inttypes.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* libiberty gives up above 1,024 letters unless it is told that its stack is large enough. */
enum { DEEP_LETTERS = 4095 };

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
    const size_t room = GT_DEMANGLED_MAX - w->len;
    memcpy(w->text + w->len, text, n < room ? n : room);
    w->len += n < room ? n : room;
    if (n > room)
        longjmp(w->too_long, 1);
}

/* A name that is too long is cut, and made unique by a hash of the name. */
static void cut(struct work *w, const char *name)
{
    enum { HASH = 1 + 16 };
    uint64_t hash = GT_FNV_BEGIN;
    for (const char *p = name; *p; p++)
        hash = gt_bytes_fnv(hash, (unsigned char)*p);
    w->len -= HASH;
    while (w->len > 0 && ((unsigned char)w->text[w->len] & 0xc0) == 0x80)
        w->len--; /* not within a character */
    w->len += (size_t)snprintf(w->text + w->len, HASH + 1, "~%016" PRIx64, hash);
}

static bool demangle(struct work *w, const char *name)
{
    const int deep = strlen(name) <= DEEP_LETTERS ? DMGL_NO_RECURSE_LIMIT : 0;
    const int options = DMGL_PARAMS | DMGL_ANSI | deep;
    w->len = 0;
    if (setjmp(w->too_long)) {
        cut(w, name);
        return true;
    }
    if (rust_demangle_callback(name, options, take, w))
        return true;
    w->len = 0;
    return cplus_demangle_v3_callback(name, options, take, w);
}

bool gt_elf_demangle_name(const char *name, char out[GT_DEMANGLED_MAX + 1])
{
    struct work w = {.text = out};
    if (name[0] != '_' || !demangle(&w, name) || !w.len || memchr(out, '\0', w.len))
        return false;
    out[w.len] = '\0';
    return true;
}

size_t gt_elf_demangled_without_parameters(const char *name)
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
