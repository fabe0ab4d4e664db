/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles names: see demangle.h. */
#include "analysis/image/demangle.h"

#include <glib.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

struct gt_demangler {
    GHashTable *names; /* of each pointer that was asked for; its own where it stays */
    GStringChunk *texts;
};

/* What libiberty has said so far of a name. */
struct work {
    size_t len;
    char text[GT_DEMANGLED_MAX + 1];
    jmp_buf too_long;
};

struct gt_demangler *gt_demangler_create(void)
{
    struct gt_demangler *d = g_new0(struct gt_demangler, 1);
    d->names = g_hash_table_new(NULL, NULL);
    d->texts = g_string_chunk_new(4096);
    return d;
}

void gt_demangler_destroy(struct gt_demangler *d)
{
    if (!d)
        return;
    g_hash_table_destroy(d->names);
    g_string_chunk_free(d->texts);
    g_free(d);
}

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

const char *gt_demangle(struct gt_demangler *d, const char *name)
{
    struct work w;
    if (!d || name[0] != '_')
        return name;
    const char *known = g_hash_table_lookup(d->names, name);
    if (known)
        return known;
    known = name;
    if (demangle(&w, name) && w.len && !memchr(w.text, '\0', w.len))
        known = g_string_chunk_insert_len(d->texts, w.text, (gssize)w.len);
    g_hash_table_insert(d->names, (void *)name, (void *)known);
    return known;
}
