/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events files from prototypes: see expand.h. */
#include "events/guest/expand.h"
#include "base/file.h"
#include "events/guest/declare.h"
#include "guest/types/btf.h"
#include "guest/types/dwarf.h"
#include "names/image/symbol_source.h"

#include <glib.h>
#include <guesttrace/control.h>
#include <string.h>

enum { FILE_MOST = 64 << 20 };

struct file {
    struct gt_symbol_source source;
    struct gt_prototypes *prototypes; /* NULL: it has none */
    const struct gt_abi *abi;
};

struct gt_guest_functions {
    struct file *file;
    size_t n;
    GHashTable *written; /* names of functions */
    GHashTable *events;  /* names of events */
};

/* ---- files --------------------------------------------------------------------------------- */

static const struct file *kernel_of(const struct gt_guest_functions *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->file[i].source.kind == GT_SOURCE_KERNEL && g->file[i].prototypes)
            return &g->file[i];
    return NULL;
}

static int read_prototypes(const struct gt_guest_functions *g, struct file *f, struct gt_error *err)
{
    const struct gt_symbol_source *s = &f->source;
    const struct file *kernel = kernel_of(g);
    int status;
    switch (s->kind) {
    case GT_SOURCE_ELF:
        f->abi = gt_abi_by_elf(s->symbols->e_machine, s->symbols->bits);
        return gt_dwarf_prototypes(s->opened, NULL, &f->prototypes, err);
    case GT_SOURCE_KERNEL:
        f->abi = gt_abi_of_kernel(s->kernel->e_machine, s->kernel->bits);
        status = gt_btf_prototypes(s->kernel, &f->prototypes, err);
        return status < 0 ? gt_dwarf_prototypes(s->opened, NULL, &f->prototypes, err) : 0;
    default:
        f->abi = gt_abi_of_kernel(s->ko->e_machine, s->ko->bits);
        if (!kernel)
            return gt_error_set(err, GT_E_NOT_FOUND,
                                "%s: a module's types need its kernel's: give the kernel, too",
                                s->opened);
        return gt_btf_module_prototypes(s->ko, kernel->source.kernel, kernel->prototypes,
                                        &f->prototypes, err);
    }
}

int gt_guest_functions_load(const char *const *files, size_t n, bool strict,
                            struct gt_guest_functions **out, struct gt_error *err)
{
    struct gt_guest_functions *g = g_new0(struct gt_guest_functions, 1);
    int status = 0;
    g->file = g_new0(struct file, n + 1);
    g->written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g->events = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < n && status == 0; i++) {
        struct file *f = &g->file[g->n];
        status = gt_symbol_source_load(files[i], &f->source, err);
        bool loaded = status == 0;
        if (loaded)
            status = read_prototypes(g, f, err);
        g->n += loaded;
        if (status < 0 && status != GT_E_NOMEM && (!strict || (loaded && n > 1)))
            status = 0;
    }
    if (status < 0) {
        gt_guest_functions_free(g);
        g = NULL;
    }
    *out = g;
    return status;
}

void gt_guest_functions_free(struct gt_guest_functions *g)
{
    if (!g)
        return;
    while (g->n > 0) { /* modules before the kernel that they stand on */
        struct file *f = &g->file[--g->n];
        gt_prototypes_free(f->prototypes);
        gt_symbol_source_clear(&f->source);
    }
    g_free(g->file);
    g_hash_table_destroy(g->written);
    g_hash_table_destroy(g->events);
    g_free(g);
}

/* ---- functions ----------------------------------------------------------------------------- */

/* A name that no other event has; it is the table's. */
static const char *take_name(struct gt_guest_functions *g, const char *name, const char *suffix)
{
    GString *event = g_string_new(name);
    g_string_append(event, suffix);
    while (g_hash_table_contains(g->events, event->str))
        g_string_append_c(event, '_');
    char *own = g_string_free(event, FALSE);
    g_hash_table_add(g->events, own);
    return own;
}

/* False: it can be no event. */
static bool write_function(struct gt_guest_functions *g, const struct file *f,
                           const struct gt_prototype *item, const char *name, bool returns,
                           struct gt_text *out)
{
    g_autofree char *event = gt_guest_event_name(name);
    if (!event)
        return false;
    if (!g_hash_table_add(g->written, g_strdup(name)))
        return true;
    gt_guest_event_declare(f->abi, f->prototypes, item, name, take_name(g, event, ""), out);
    if (returns && gt_guest_event_has_result(f->prototypes, item))
        gt_guest_event_declare_return(f->prototypes, item, name, take_name(g, event, "_return"),
                                      out);
    return true;
}

static size_t write_part(struct gt_guest_functions *g, const struct file *f,
                         const struct gt_source_part *part, const char *glob, bool returns,
                         struct gt_text *out)
{
    size_t n = 0;
    for (size_t i = 0; i < part->n; i++) {
        const struct gt_source_function *fn = &part->function[i];
        if (fn->unnamed || !gt_trace_match(glob, fn->name))
            continue;
        const struct gt_prototype *item = gt_prototypes_at(f->prototypes, fn->addr);
        if (!item)
            item = gt_prototypes_named(f->prototypes, fn->name);
        if (item && (!item->has_addr || f->source.kind != GT_SOURCE_ELF || item->addr == fn->addr))
            n += write_function(g, f, item, fn->name, returns, out);
    }
    return n;
}

size_t gt_guest_functions_write(struct gt_guest_functions *g, const char *glob, bool returns,
                                struct gt_text *out)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->file[i].source.n_parts; k++)
            if (g->file[i].prototypes && g->file[i].abi)
                n += write_part(g, &g->file[i], &g->file[i].source.part[k], glob, returns, out);
    return n;
}

/* ---- files of events ----------------------------------------------------------------------- */

/* The glob of a line "guest.GLOB"; NULL: it is another line. The caller frees it. */
static char *glob_of(const char *line, size_t n)
{
    g_autofree char *text = g_strndup(line, n);
    g_strstrip(text);
    const char *glob = g_str_has_prefix(text, "guest.") ? text + strlen("guest.") : NULL;
    return glob && *glob && !strpbrk(glob, "( \t") ? g_strdup(glob) : NULL;
}

/* Those that the file has itself are not declared again. */
static void leave_out(struct gt_guest_functions *g, const struct gt_dynamic_events *events)
{
    for (size_t i = 0; i < events->n; i++) {
        const struct gt_dynamic_event *e = &events->event[i];
        g_hash_table_add(g->events, g_strdup(e->event.name));
        if (!e->at)
            g_hash_table_add(g->written, g_strdup(e->event.name));
    }
}

struct expansion {
    const char *path;
    const char *const *files;
    size_t n_files;
    const struct gt_dynamic_events *events; /* of lines with prototypes */
    unsigned line;
    struct gt_guest_functions *functions; /* NULL: not needed so far */
    struct gt_text *out;
};

static int expand_line(struct expansion *x, const char *glob, struct gt_error *err)
{
    struct gt_error why;
    if (!x->n_files)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s:%u: guest.%s: no file to take its prototype from: give it with "
                            "--symbols, or write the prototype here",
                            x->path, x->line, glob);
    if (!x->functions) {
        if (gt_guest_functions_load(x->files, x->n_files, false, &x->functions, &why) < 0)
            return gt_error_set(err, why.status, "%s:%u: guest.%s: %s", x->path, x->line, glob,
                                why.text);
        leave_out(x->functions, x->events);
    }
    if (gt_guest_functions_write(x->functions, glob, false, x->out))
        return 0;
    return gt_error_set(err, GT_E_FORMAT,
                        "%s:%u: guest.%s: no function of that name has a prototype in %s%s",
                        x->path, x->line, glob, x->files[0], x->n_files > 1 ? " and others" : "");
}

/* What is wrong with a line is reported with the line of the user's file. */
static int check(const char *path, const char *text, size_t size, struct gt_dynamic_events *events,
                 struct gt_error *err)
{
    g_autofree char *copy = g_memdup2(text, size + 1);
    struct gt_trace_error why;
    char *end = copy + size, *stop;
    for (char *line = copy; line < end; line = stop + (stop < end)) {
        stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        g_autofree char *glob = glob_of(line, (size_t)(stop - line));
        if (glob)
            memset(line, ' ', (size_t)(stop - line));
    }
    int status = gt_events_dynamic_read(events, path, copy, size, 8, 0, &why);
    return status < 0 ? gt_error_set(err, GT_E_FORMAT, "%s", why.text) : 0;
}

int gt_guest_events_expand(const char *path, const char *const *files, size_t n,
                           struct gt_text *out, struct gt_dynamic_events *events,
                           struct gt_error *err)
{
    struct expansion x = {.path = path, .files = files, .n_files = n, .events = events, .out = out};
    char *text;
    size_t size;
    int status = gt_file_read(path, FILE_MOST, &text, &size, err);
    if (status < 0)
        return status;
    status = check(path, text, size, events, err);
    bool checked = status == 0;
    const char *end = text + size, *stop;
    for (const char *line = text; line < end && status == 0; line = stop + (stop < end)) {
        stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        x.line++;
        g_autofree char *glob = glob_of(line, (size_t)(stop - line));
        if (glob)
            status = expand_line(&x, glob, err);
        else
            gt_text_printf(out, "%.*s\n", (int)(stop - line), line);
    }
    gt_guest_functions_free(x.functions);
    free(text);
    if (status < 0 && checked)
        gt_events_dynamic_free(events);
    return status;
}
