/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names while a machine is recorded: see live.h. */
#include "names/placement/live.h"

#include "names/placement/entries.h"
#include "names/placement/locate.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>

struct gt_place_live {
    char *map, *found;
    off_t found_size;                        /* of the file `found`, at the last search */
    size_t n_entries;                        /* then */
    GPtrArray *source;                       /* struct gt_image_symbol_source */
    GHashTable *tried;                       /* files of the map */
    struct gt_image_symbol_source *searched; /* a copy of the array's, which places refer to */
    struct gt_places places;
};

static void free_source(gpointer source)
{
    gt_image_symbol_source_clear(source);
    g_free(source);
}

struct gt_place_live *gt_place_live_create(const char *map, const char *found)
{
    struct gt_place_live *l = g_new0(struct gt_place_live, 1);
    l->map = g_strdup(map);
    l->found = g_strdup(found);
    l->source = g_ptr_array_new_with_free_func(free_source);
    l->tried = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return l;
}

static void forget_places(struct gt_place_live *l)
{
    gt_places_free(&l->places);
    g_clear_pointer(&l->searched, g_free);
}

void gt_place_live_destroy(struct gt_place_live *l)
{
    if (!l)
        return;
    forget_places(l);
    g_ptr_array_free(l->source, TRUE);
    g_hash_table_destroy(l->tried);
    g_free(l->map);
    g_free(l->found);
    g_free(l);
}

int gt_place_live_add(struct gt_place_live *l, const char *argument, struct gt_error *err)
{
    struct gt_image_symbol_source *s = g_new0(struct gt_image_symbol_source, 1);
    int status = gt_image_symbol_source_load(argument, s, err);
    if (status < 0)
        g_free(s);
    else
        g_ptr_array_add(l->source, s);
    return status;
}

/* ---- files of the map ---------------------------------------------------------------------- */

static bool is_given(const struct gt_place_live *l, const char *file)
{
    for (guint i = 0; i < l->source->len; i++)
        if (strcmp(((const struct gt_image_symbol_source *)l->source->pdata[i])->file, file) == 0)
            return true;
    return false;
}

/* The file of a module: its path, or that without the name of a part. */
static char *file_of(const char *path)
{
    g_autofree char *whole = g_str_has_suffix(path, GT_SOURCE_START)
                                 ? g_strndup(path, strlen(path) - strlen(GT_SOURCE_START))
                                 : g_strdup(path);
    if (g_file_test(whole, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer(&whole);
    g_autofree char *folder = g_path_get_dirname(whole);
    return g_file_test(folder, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer(&folder) : NULL;
}

static void load_file(struct gt_place_live *l, const char *path)
{
    g_autofree char *file = file_of(path);
    if (!file || g_hash_table_contains(l->tried, file))
        return;
    if (!is_given(l, file))
        gt_place_live_add(l, file, NULL);
    g_hash_table_add(l->tried, g_steal_pointer(&file));
}

/* Kernel modules may be thousands: those that were recognised. */
static void load_files(struct gt_place_live *l, const struct gt_place_matches *found)
{
    for (size_t i = 0; i < found->map.n_modules; i++)
        if (!strstr(found->map.module[i].path, ".ko"))
            load_file(l, found->map.module[i].path);
    for (size_t i = 0; i < found->n; i++)
        load_file(l, found->map.module[found->item[i].module].path);
}

/* ---- places -------------------------------------------------------------------------------- */

static struct gt_place_entries entries_of(const uint64_t *address, size_t n)
{
    struct gt_place_entries entries = {0};
    struct gt_place_entry_set *set = gt_place_entry_set_create();
    int status = set ? 0 : GT_E_NOMEM;
    for (size_t i = 0; i < n && status == 0; i++)
        status = gt_place_entry_set_add(set, address[i]);
    if (set)
        gt_place_entry_set_finish(set, &entries);
    return entries;
}

static void find_places(struct gt_place_live *l, const struct gt_place_matches *found,
                        const uint64_t *address, size_t n)
{
    const guint n_sources = l->source->len;
    g_autofree struct gt_error *why = g_new0(struct gt_error, n_sources + 1);
    struct gt_place_entries entries = entries_of(address, n);
    struct gt_error err = {0};
    l->searched = g_new(struct gt_image_symbol_source, n_sources + 1);
    for (guint i = 0; i < n_sources; i++)
        l->searched[i] = *(const struct gt_image_symbol_source *)l->source->pdata[i];
    if (gt_place_locate_entries(&entries, found, l->searched, n_sources, &l->places, why, &err) < 0)
        l->places = (struct gt_places){0};
}

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

void gt_place_live_search(struct gt_place_live *l, const uint64_t *address, size_t n)
{
    const off_t size = size_of(l->found);
    struct gt_place_matches found;
    if (size == l->found_size && n < l->n_entries + l->n_entries / 4 + 16)
        return;
    l->found_size = size;
    l->n_entries = n;
    gt_place_matches_read_files(l->map, l->found, &found);
    forget_places(l);
    load_files(l, &found);
    if (l->source->len)
        find_places(l, &found, address, n);
    gt_place_matches_free(&found);
}

const char *gt_place_live_find(const struct gt_place_live *l, uint64_t address, const char **module)
{
    for (size_t i = 0; i < l->places.n; i++) {
        const struct gt_place *p = &l->places.place[i];
        if (address < p->start || address >= p->end || p->overlap)
            continue;
        const struct gt_image_source_function *f =
            gt_image_source_part_find(p->part, address - p->start + p->lo);
        if (!f || f->unnamed)
            continue;
        *module = p->part->path;
        return f->name;
    }
    return NULL;
}
