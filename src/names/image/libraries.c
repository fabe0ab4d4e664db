/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's libraries: see libraries.h. */
#include "names/image/libraries.h"

#include "guest/elf/file.h"
#include "names/image/program.h"

#include <gelf.h>
#include <string.h>

enum { FILES_MOST = 1000 };

struct search {
    const char *root;
    GPtrArray *folders;        /* the usual ones */
    GPtrArray *found;          /* paths */
    GHashTable *seen;          /* names that were looked for, and paths */
    struct gt_program program; /* what the libraries have to be for */
};

/* The file at that path, as the guest sees it; NULL: none, or of another architecture. */
static char *guest_file(const struct search *s, const char *path)
{
    g_autofree char *rooted = s->root ? g_build_filename(s->root, path, NULL) : NULL;
    const char *const tries[] = {rooted, path};
    for (size_t i = 0; i < G_N_ELEMENTS(tries); i++) {
        struct gt_program p;
        if (!tries[i] || gt_program_inspect(tries[i], &p, NULL) < 0)
            continue;
        bool same = p.is_elf && p.e_machine == s->program.e_machine && p.bits == s->program.bits &&
                    p.data == s->program.data;
        gt_program_clear(&p);
        if (same)
            return g_canonicalize_filename(tries[i], NULL);
    }
    return NULL;
}

static void add_found(struct search *s, char *path)
{
    if (path && s->found->len < FILES_MOST && g_hash_table_add(s->seen, g_strdup(path)))
        g_ptr_array_add(s->found, path);
    else
        g_free(path);
}

/* Looks in folders separated by colons. */
static char *find_in(const struct search *s, const char *folders, const char *origin,
                     const char *name)
{
    g_auto(GStrv) list = g_strsplit(folders ? folders : "", ":", 0);
    char *path = NULL;
    for (char **f = list; *f && !path; f++) {
        g_autoptr(GString) folder = g_string_new(*f);
        g_string_replace(folder, "$ORIGIN", origin, 0);
        g_string_replace(folder, "${ORIGIN}", origin, 0);
        g_autofree char *full = g_build_filename(folder->str, name, NULL);
        path = folder->len ? guest_file(s, full) : NULL;
    }
    return path;
}

static void look_for(struct search *s, const char *name, const char *origin, const char *runpath)
{
    if (!g_hash_table_add(s->seen, g_strdup(name)))
        return;
    char *path = strchr(name, '/') ? guest_file(s, name) : NULL;
    if (!path && !strchr(name, '/')) {
        path = find_in(s, runpath, origin, name);
        if (!path)
            path = find_in(s, g_getenv("LD_LIBRARY_PATH"), origin, name);
        for (guint i = 0; !path && i < s->folders->len; i++)
            path = find_in(s, s->folders->pdata[i], origin, name);
    }
    add_found(s, path);
}

/* The section of that type; NULL: none. */
static Elf_Scn *dynamic_of(Elf *elf, GElf_Shdr *header)
{
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
        if (gelf_getshdr(scn, header) && header->sh_type == SHT_DYNAMIC)
            return scn;
    return NULL;
}

static const char *text_of(Elf *elf, const GElf_Shdr *header, const GElf_Dyn *d)
{
    const char *text = elf_strptr(elf, header->sh_link, d->d_un.d_val);
    return text ? text : "";
}

static void read_dynamic(struct search *s, Elf *elf, const char *path)
{
    GElf_Shdr header;
    GElf_Dyn d;
    Elf_Scn *scn = dynamic_of(elf, &header);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    g_autofree char *origin = g_path_get_dirname(path);
    const char *runpath = NULL;
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
        if (d.d_tag == DT_RUNPATH || (d.d_tag == DT_RPATH && !runpath))
            runpath = text_of(elf, &header, &d);
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
        if (d.d_tag == DT_NEEDED)
            look_for(s, text_of(elf, &header, &d), origin, runpath);
}

static void read_file(struct search *s, const char *path)
{
    struct gt_elf file;
    if (gt_elf_open(path, &file, NULL) < 0)
        return;
    read_dynamic(s, file.elf, path);
    gt_elf_close(&file);
}

static void add_folders(struct search *s, const char *const *triples)
{
    static const char *const usual[] = {"/lib",   "/usr/lib",   "/lib64",        "/usr/lib64",
                                        "/lib32", "/usr/lib32", "/usr/local/lib"};
    for (size_t i = 0; triples && triples[i]; i++) {
        g_ptr_array_add(s->folders, g_strconcat("/lib/", triples[i], NULL));
        g_ptr_array_add(s->folders, g_strconcat("/usr/lib/", triples[i], NULL));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
        g_ptr_array_add(s->folders, g_strdup(usual[i]));
}

GPtrArray *gt_libraries_of(const char *program, const char *root, const char *const *triples)
{
    struct search s = {.root = root, .found = g_ptr_array_new_with_free_func(g_free)};
    if (gt_program_inspect(program, &s.program, NULL) < 0)
        return s.found;
    s.folders = g_ptr_array_new_with_free_func(g_free);
    s.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    add_folders(&s, triples);
    if (s.program.interpreter)
        add_found(&s, guest_file(&s, s.program.interpreter));
    if (s.program.is_elf)
        read_file(&s, program);
    for (guint i = 0; i < s.found->len; i++) /* it grows */
        read_file(&s, s.found->pdata[i]);
    gt_program_clear(&s.program);
    g_ptr_array_unref(s.folders);
    g_hash_table_destroy(s.seen);
    return s.found;
}
