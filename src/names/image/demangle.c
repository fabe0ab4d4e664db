/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles names: see demangle.h. */
#include "names/image/demangle.h"

#include "guest/elf/demangle_name.h"

#include <glib.h>

struct gt_image_demangler {
    GHashTable *names; /* of each pointer that was asked for; its own where it stays */
    GStringChunk *texts;
};

struct gt_image_demangler *gt_image_demangler_create(void)
{
    struct gt_image_demangler *d = g_new0(struct gt_image_demangler, 1);
    d->names = g_hash_table_new(NULL, NULL);
    d->texts = g_string_chunk_new(4096);
    return d;
}

void gt_image_demangler_destroy(struct gt_image_demangler *d)
{
    if (!d)
        return;
    g_hash_table_destroy(d->names);
    g_string_chunk_free(d->texts);
    g_free(d);
}

const char *gt_image_demangle(struct gt_image_demangler *d, const char *name)
{
    char text[GT_DEMANGLED_MAX + 1];
    if (!d || name[0] != '_')
        return name;
    const char *known = g_hash_table_lookup(d->names, name);
    if (known)
        return known;
    known = name;
    if (gt_elf_demangle_name(name, text))
        known = g_string_chunk_insert(d->texts, text);
    g_hash_table_insert(d->names, (void *)name, (void *)known);
    return known;
}
