/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for a recorded machine: see names.h. */
#include "cli/record/names.h"

#include "cli/record/arguments.h"
#include "cli/record/machine_files.h"
#include "guest/abi/abi.h"
#include "names/image/program.h"
#include "names/placement/code_map.h"
#include "names/placement/locate.h"
#include "names/placement/symbolize.h"
#include "names/processes/sysroot.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDERS_DEEP 16

struct gt_record_names {
    struct gt_image_symbol_source *source; /* from --symbols first */
    size_t n, n_given;
    GPtrArray *modules; /* paths of those in folders of --symbols */
};

static void note(const struct gt_record_recording *r, const char *what, const char *text)
{
    if (!r->opt->quiet)
        gt_record_say("note: %s%s", what, text);
}

/* ---- before the run ------------------------------------------------------------------------ */

static bool is_module_name(const char *name)
{
    const char *end = strstr(name, ".ko");
    for (const char *next = end; next; next = strstr(next + 1, ".ko"))
        end = next;
    static const char *const endings[] = {".ko", ".ko.gz", ".ko.xz", ".ko.zst", NULL};
    return end && g_strv_contains(endings, end);
}

/* Modules in the folder and below it; links to folders (build, source) lead elsewhere. */
static void add_folder(GPtrArray *list, const char *folder, int depth)
{
    GDir *dir = depth < FOLDERS_DEEP ? g_dir_open(folder, 0, NULL) : NULL;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            if (!g_file_test(path, G_FILE_TEST_IS_SYMLINK))
                add_folder(list, path, depth + 1);
        } else if (is_module_name(name)) {
            g_ptr_array_add(list, g_steal_pointer(&path));
        }
    }
    if (dir)
        g_dir_close(dir);
}

static gint compare_paths(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int load_given(const struct gt_record_recording *r, struct gt_record_names *names,
                      struct gt_error *err)
{
    for (guint i = 0; r->opt->symbols && i < r->opt->symbols->len; i++) {
        const char *given = r->opt->symbols->pdata[i];
        if (g_file_test(given, G_FILE_TEST_IS_DIR)) {
            const guint before = names->modules->len;
            add_folder(names->modules, given, 0);
            if (names->modules->len == before)
                return gt_error_set(err, GT_E_NOT_FOUND, "%s: no kernel modules (.ko) below it",
                                    given);
            continue;
        }
        int status = gt_image_symbol_source_load(given, &names->source[names->n], err);
        if (status < 0)
            return status;
        names->n_given = ++names->n;
    }
    g_ptr_array_sort(names->modules, compare_paths);
    return 0;
}

/* Without an OFFSET, whatever the name. */
static int load_path(const char *path, struct gt_image_symbol_source *out, struct gt_error *err)
{
    g_autofree char *argument = g_canonicalize_filename(path, NULL);
    int status = gt_image_symbol_source_load(argument, out, err);
    if (status == 0 && out->part[0].has_offset) {
        gt_image_symbol_source_clear(out);
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: its name must not end in an offset", path);
    }
    return status;
}

static bool is_elf(const char *path)
{
    FILE *f = fopen(path, "re");
    char magic[4] = "";
    bool yes = f && fread(magic, 1, sizeof magic, f) == sizeof magic &&
               memcmp(magic, "\177ELF", sizeof magic) == 0;
    if (f)
        fclose(f);
    return yes;
}

/* The plugin recognised the module of that path, or the code of its start. */
static bool was_found(const struct gt_place_matches *found, const char *path)
{
    char code[GT_UFTRACE_PATH_MAX], start[GT_UFTRACE_PATH_MAX];
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    g_autofree char *init = g_strconcat(absolute, GT_SOURCE_START, NULL);
    gt_uftrace_path(absolute, code, sizeof code);
    gt_uftrace_path(init, start, sizeof start);
    for (size_t i = 0; i < found->n; i++)
        if (gt_place_matches_is(found, i, code) || gt_place_matches_is(found, i, start))
            return true;
    return false;
}

static bool is_known(const struct gt_record_names *names, const struct gt_image_symbol_source *s)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->source[i].file, s->file) == 0)
            return true;
    return false;
}

static void load_machine_files(const struct gt_record_recording *r, struct gt_record_names *names,
                               const GArray *files)
{
    for (guint i = 0; i < files->len; i++) {
        const struct gt_record_machine_file *f =
            &g_array_index(files, struct gt_record_machine_file, i);
        struct gt_image_symbol_source *s = &names->source[names->n];
        struct gt_error why = {0};
        if (!f->kernel && !is_elf(f->path))
            continue;
        if (load_path(f->path, s, &why) < 0)
            note(r, "no names from this file: ", why.text);
        else if (is_known(names, s))
            gt_image_symbol_source_clear(s);
        else
            names->n++;
    }
}

/* Appends those modules in folders that `wanted` (NULL: all) has; returns how many. */
static size_t load_modules(const struct gt_record_recording *r,
                           const struct gt_place_matches *wanted)
{
    struct gt_record_names *names = r->names;
    const size_t before = names->n;
    names->source =
        g_renew(struct gt_image_symbol_source, names->source, before + names->modules->len + 1);
    for (guint i = 0; i < names->modules->len; i++) {
        const char *path = names->modules->pdata[i];
        struct gt_error why = {0};
        if (wanted && !was_found(wanted, path))
            continue;
        if (load_path(path, &names->source[names->n], &why) < 0) {
            if (!wanted)
                note(r, "no names from this file: ", why.text);
        } else if (is_known(names, &names->source[names->n])) {
            gt_image_symbol_source_clear(&names->source[names->n]);
        } else {
            names->n++;
        }
    }
    return names->n - before;
}

/* Modules in folders may be thousands: they are only read to make the map. */
static int write_code_map(struct gt_record_recording *r, struct gt_error *err)
{
    struct gt_record_names *names = r->names;
    struct gt_text map = {0};
    int status = 0;
    if (!r->tool->code_map)
        return 0;
    size_t more = load_modules(r, NULL);
    if (gt_place_code_map(names->source, names->n, r->lines, &map)) {
        r->code = g_strconcat(r->output, "." GT_CODE_MAP_FILE, NULL);
        status = gt_file_replace_text(r->code, &map, err);
    }
    if (status == 0)
        status = gt_record_arguments_add(r, names->source, names->n, err);
    for (; more > 0; more--)
        gt_image_symbol_source_clear(&names->source[--names->n]);
    gt_text_free(&map);
    return status;
}

int gt_record_names_prepare(struct gt_record_recording *r, struct gt_error *err)
{
    static char *const none[] = {NULL};
    if (r->machine && r->opt->sysroot && !g_file_test(r->opt->sysroot, G_FILE_TEST_IS_DIR))
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no such folder", r->opt->sysroot);
    GArray *files = gt_record_machine_files(r->machine ? r->machine : none);
    size_t most = (r->opt->symbols ? r->opt->symbols->len : 0) + files->len;
    r->names = g_new0(struct gt_record_names, 1);
    r->names->source = g_new0(struct gt_image_symbol_source, most + 1);
    r->names->modules = g_ptr_array_new_with_free_func(g_free);
    int status = load_given(r, r->names, err);
    if (status == 0)
        load_machine_files(r, r->names, files);
    g_array_unref(files);
    if (status == 0 && r->machine)
        status = write_code_map(r, err);
    return status;
}

const char *gt_record_names_abi(const struct gt_record_recording *r)
{
    for (size_t i = 0; r->names && i < r->names->n; i++) {
        const struct gt_kernel *kernel = r->names->source[i].kernel;
        const struct gt_abi *abi =
            kernel ? gt_abi_of_kernel(kernel->e_machine, kernel->bits) : NULL;
        if (abi && strcmp(abi->name, abi->target) != 0)
            return abi->name;
    }
    return NULL;
}

GPtrArray *gt_record_names_paths(const struct gt_record_recording *r)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < r->names->n; i++)
        g_ptr_array_add(paths, g_strdup(r->names->source[i].opened));
    for (guint i = 0; i < r->names->modules->len; i++)
        g_ptr_array_add(paths, g_strdup(r->names->modules->pdata[i]));
    if (!r->program.path)
        return paths;
    g_ptr_array_add(paths, g_strdup(r->program.path));
    g_autoptr(GPtrArray) libraries =
        gt_image_libraries_of(r->program.path, r->program.root, r->program.triples);
    for (guint i = 0; i < libraries->len; i++)
        g_ptr_array_add(paths, g_strdup(libraries->pdata[i]));
    return paths;
}

/* ---- after the run ------------------------------------------------------------------------- */

static bool replaces(const struct gt_image_symbol_source *given,
                     const struct gt_image_symbol_source *own)
{
    return given->kernel && own->kernel &&
           (!given->kernel->banner[0] || strcmp(given->kernel->banner, own->kernel->banner) == 0);
}

/* The machine's own files that one of --symbols stands for: its kernel, of which there is a vmlinux
 * or a System.map. They were of use to the plugin; twice the same names would be one too many. */
static void drop_replaced(struct gt_record_names *names)
{
    size_t kept = names->n_given;
    for (size_t i = names->n_given; i < names->n; i++) {
        bool drop = false;
        for (size_t k = 0; k < names->n_given; k++)
            drop = drop || replaces(&names->source[k], &names->source[i]);
        struct gt_image_symbol_source own = names->source[i];
        if (drop)
            gt_image_symbol_source_clear(&own);
        else
            names->source[kept++] = own;
    }
    names->n = kept;
}

static void say_places(const struct gt_record_recording *r, const struct gt_places *places)
{
    for (size_t i = 0; i < places->n && !r->opt->quiet; i++) {
        g_autofree char *text = gt_place_text(&places->place[i]);
        if (places->place[i].found)
            gt_record_say("%s", text);
    }
}

/* A given file without a place is an error's line; one that was only seen on QEMU's command line
 * may never have run, and is a note. */
static void say_missing(const struct gt_record_recording *r, const struct gt_error *why)
{
    for (size_t i = 0; i < r->names->n; i++) {
        if (why[i].status == GT_OK)
            continue;
        if (i < r->names->n_given)
            gt_record_say("no symbols: %s", why[i].text);
        else
            note(r, "", why[i].text);
    }
}

static void move_code_map(struct gt_record_recording *r)
{
    if (!r->code)
        return;
    g_autofree char *to = g_build_filename(r->dir, GT_CODE_MAP_FILE, NULL);
    if (r->opt->last) { /* there may be several */
        (void)!link(r->code, to);
        return;
    }
    if (rename(r->code, to) != 0)
        unlink(r->code);
    g_clear_pointer(&r->code, g_free);
}

static void load_recognised(struct gt_record_recording *r)
{
    struct gt_place_matches found;
    if (r->names->modules->len == 0)
        return;
    gt_place_matches_read(r->dir, &found);
    load_modules(r, &found);
    gt_place_matches_free(&found);
}

static void name_files(const struct gt_record_recording *r)
{
    struct gt_places places = {0};
    struct gt_error err = {0};
    g_autofree struct gt_error *why = g_new0(struct gt_error, r->names->n);
    int status = gt_place_locate(&r->edit.at, r->names->source, r->names->n, &places, why, &err);
    if (status == 0 && places.n)
        status = gt_place_symbolize(r->dir, &places, false, &err);
    if (status < 0) {
        gt_record_say("no symbols: %s", err.text);
    } else {
        say_places(r, &places);
        say_missing(r, why);
    }
    gt_places_free(&places);
}

static void name_processes(const struct gt_record_recording *r)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    struct gt_error err = {0};
    if (gt_sysroot_apply(&r->edit.at, r->opt->sysroot, false, lines, &err) < 0)
        gt_record_say("no symbols of processes: %s", err.text);
    for (guint i = 0; i < lines->len && !r->opt->quiet; i++)
        gt_record_say("%s", (const char *)lines->pdata[i]);
}

void gt_record_names_finish(struct gt_record_recording *r)
{
    move_code_map(r);
    drop_replaced(r->names);
    load_recognised(r);
    if (r->names->n)
        name_files(r);
    if (r->machine && r->opt->sysroot)
        name_processes(r);
}

void gt_record_names_clear(struct gt_record_recording *r)
{
    if (r->code)
        unlink(r->code);
    g_clear_pointer(&r->code, g_free);
    for (size_t i = 0; r->names && i < r->names->n; i++)
        gt_image_symbol_source_clear(&r->names->source[i]);
    if (r->names) {
        g_free(r->names->source);
        g_ptr_array_unref(r->names->modules);
    }
    g_clear_pointer(&r->names, g_free);
}
