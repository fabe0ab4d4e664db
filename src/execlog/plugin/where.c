/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges, functions and triggers: see where.h. */
#include "execlog/plugin/where.h"

#include "base/number.h"
#include "base/page.h"
#include "execlog/plugin/recorder.h"
#include "guest/elf/symbols.h"
#include "guest/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t lo, hi; /* hi: the first address after it */
};

/* A function that was asked for, or the address of a trigger. */
struct wanted {
    const char *argument, *value; /* for messages */
    char *name;
    bool found;
    struct gt_exlog_trigger trigger; /* count 0: a range */
};

struct elf_file {
    char *path;
    uint64_t offset;
};

/* The address of a trigger. */
struct point {
    uint64_t pc;
    struct gt_exlog_trigger *trigger;
};

static void add_range(struct gt_exlog_where *x, uint64_t lo, uint64_t hi)
{
    struct range r = {lo, hi};
    if (!x->ranges)
        x->ranges = g_array_new(FALSE, FALSE, sizeof r);
    g_array_append_val(x->ranges, r);
}

static void add_point(struct gt_exlog_where *x, uint64_t pc, struct gt_exlog_trigger *trigger)
{
    struct point p = {pc, trigger};
    if (!x->points)
        x->points = g_array_new(FALSE, FALSE, sizeof p);
    g_array_append_val(x->points, p);
}

/* Reads a hex number that ends at one of the characters, or at the end. */
static bool take_hex(const char **at, const char *ends, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, 16);
    bool good = g_ascii_isxdigit(**at) && !errno && strchr(ends, *end);
    *at = end;
    return good;
}

int gt_exlog_add_range(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_where *x = &((struct gt_exlog *)self)->where;
    uint64_t lo, last;
    if (!gt_text_range_parse(value, &lo, &last))
        return gt_error_set(err, GT_E_USAGE, "argument range=%.200s: expected " GT_RANGE_EXPECTED,
                            value);
    add_range(x, lo, last + 1);
    x->restricted = true;
    return 0;
}

static struct wanted *add_wanted(struct gt_exlog_where *x, const char *argument, const char *value)
{
    struct wanted *w = g_new0(struct wanted, 1);
    w->argument = argument;
    w->value = value;
    if (!x->wanted)
        x->wanted = g_ptr_array_new();
    g_ptr_array_add(x->wanted, w);
    return w;
}

int gt_exlog_add_symbol(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_where *x = &((struct gt_exlog *)self)->where;
    if (!*value)
        return gt_error_set(err, GT_E_USAGE, "argument sym=: expected a function's name");
    add_wanted(x, "sym", value)->name = g_strdup(value);
    x->restricted = true;
    return 0;
}

int gt_exlog_add_elf(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_where *x = &((struct gt_exlog *)self)->where;
    const char *colon = strrchr(value, ':'), *at = colon ? colon + 1 : NULL;
    uint64_t offset = 0;
    if (!*value || (colon && !take_hex(&at, "", &offset)))
        return gt_error_set(err, GT_E_USAGE,
                            "argument elf=%.200s: expected FILE, or FILE:OFFSET, in hex", value);
    struct elf_file *f = g_new(struct elf_file, 1);
    *f = (struct elf_file){colon ? g_strndup(value, (gsize)(colon - value)) : g_strdup(value),
                           offset};
    if (!x->files)
        x->files = g_ptr_array_new();
    g_ptr_array_add(x->files, f);
    return 0;
}

static int add_trigger(struct gt_exlog *e, const char *argument, bool stop, const char *value,
                       struct gt_error *err)
{
    const char *colon = strrchr(value, ':');
    uint64_t count = 1, pc;
    char *end = NULL;
    errno = 0;
    if (colon)
        count = g_ascii_isdigit(colon[1]) ? strtoull(colon + 1, &end, 10) : 0;
    g_autofree char *name = colon ? g_strndup(value, (gsize)(colon - value)) : g_strdup(value);
    const char *at = name;
    bool address = g_ascii_strncasecmp(name, "0x", 2) == 0;
    if (!*name || count == 0 || errno || (end && *end) || (address && !take_hex(&at, "", &pc)))
        return gt_error_set(err, GT_E_USAGE,
                            "argument %s=%.200s: expected 0xADDRESS or a function's name, and "
                            "perhaps :COUNT, from 1",
                            argument, value);
    struct wanted *w = add_wanted(&e->where, argument, value);
    e->selective = true;
    w->trigger = (struct gt_exlog_trigger){.stop = stop, .count = count};
    if (address) {
        add_point(&e->where, pc, &w->trigger);
        w->found = true;
    } else {
        w->name = g_steal_pointer(&name);
    }
    return 0;
}

int gt_exlog_add_start(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog *e = self;
    e->off = true;
    return add_trigger(e, "start", false, value, err);
}

int gt_exlog_add_stop(void *self, const char *value, struct gt_error *err)
{
    return add_trigger(self, "stop", true, value, err);
}

static void add_function(struct gt_exlog_where *x, struct wanted *w, const struct gt_elf_symbols *s,
                         uint64_t base, uint64_t rel)
{
    const struct gt_elf_symbol *f = gt_elf_symbols_find(s, rel);
    w->found = true;
    if (w->trigger.count)
        add_point(x, base + rel, &w->trigger);
    else
        add_range(x, base + rel, base + rel + (f && f->addr == rel ? f->size : 1));
}

/* Adds the wanted functions of a file whose load base is there. */
static void add_functions(struct gt_exlog_where *x, const struct gt_elf_symbols *s, uint64_t base)
{
    for (guint i = 0; x->wanted && i < x->wanted->len; i++) {
        struct wanted *w = x->wanted->pdata[i];
        bool some = false;
        for (size_t k = 0; w->name && k < s->n_sym; k++)
            if (s->sym[k].type != 'P' && strcmp(s->sym[k].name, w->name) == 0) {
                add_function(x, w, s, base, s->sym[k].addr);
                some = true;
            }
        uint64_t rel;
        if (w->name && !some && gt_elf_symbols_by_name(s, w->name, &rel) &&
            !gt_elf_symbols_in_plt(s, rel)) /* it leads to another file's function of the name */
            add_function(x, w, s, base, rel);
    }
}

int gt_exlog_find_functions(struct gt_exlog *e, struct gt_error *err)
{
    struct gt_exlog_where *x = &e->where;
    for (guint i = 0; x->files && i < x->files->len; i++) {
        const struct elf_file *f = x->files->pdata[i];
        struct gt_elf_symbols *s;
        int status = gt_elf_symbols_load(f->path, &s, err);
        if (status < 0)
            return status;
        add_functions(x, s, s->load_base + f->offset);
        gt_elf_symbols_free(s);
    }
    for (guint i = 0; x->wanted && i < x->wanted->len && e->host.system; i++) {
        const struct wanted *w = x->wanted->pdata[i];
        if (!w->found)
            return gt_error_set(
                err, GT_E_NOT_FOUND, "argument %s=%.200s: no such function in %s", w->argument,
                w->value, x->files ? "the files of elf=" : "any file: expected elf=FILE, too");
    }
    return 0;
}

static bool in_ranges(const GArray *all, uint64_t pc)
{
    for (guint i = 0; all && i < all->len; i++) {
        const struct range *r = &g_array_index(all, struct range, i);
        if (pc - r->lo < r->hi - r->lo)
            return true;
    }
    return false;
}

void gt_exlog_learn_code(struct gt_exlog *e, uint64_t pc, const void *host)
{
    struct gt_exlog_where *x = &e->where;
    struct gt_process_mapping m;
    if (e->host.system || !x->wanted || !host || in_ranges(x->modules, pc))
        return;
    uint64_t guest = (uint64_t)(uintptr_t)host - pc;
    struct range r = {gt_base_page_begin(pc), (pc | (GT_PAGE - 1)) + 1};
    if (!x->program)
        x->program = gt_host_program();
    struct gt_elf_symbols *s;
    if (gt_process_mapping_at((uint64_t)(uintptr_t)host, &m) == 1) {
        r = (struct range){m.start - guest, m.end - guest};
        const char *path = m.path[0] ? gt_process_readable_path(&m, x->program) : NULL;
        if (path && gt_elf_symbols_load(path, &s, NULL) == 0) {
            add_functions(x, s, m.base - guest);
            gt_elf_symbols_free(s);
        }
    }
    if (!x->modules)
        x->modules = g_array_new(FALSE, FALSE, sizeof r);
    g_array_append_val(x->modules, r);
}

bool gt_exlog_is_inside(const struct gt_exlog *e, uint64_t pc)
{
    return !e->where.restricted || in_ranges(e->where.ranges, pc);
}

struct gt_exlog_trigger *gt_exlog_trigger_at(const struct gt_exlog *e, uint64_t pc, size_t *from)
{
    const GArray *points = e->where.points;
    for (; points && *from < points->len; ++*from) {
        const struct point *p = &g_array_index(points, struct point, *from);
        if (p->pc == pc) {
            ++*from;
            return p->trigger;
        }
    }
    return NULL;
}

void gt_exlog_report_missing(const struct gt_exlog *e)
{
    const GPtrArray *wanted = e->where.wanted;
    for (guint i = 0; wanted && i < wanted->len; i++) {
        const struct wanted *w = wanted->pdata[i];
        if (!w->found)
            gt_host_message("argument %s=%.200s: no function of that name was seen", w->argument,
                            w->value);
    }
}

static void free_wanted(GPtrArray *wanted)
{
    for (guint i = 0; i < wanted->len; i++) {
        struct wanted *w = wanted->pdata[i];
        g_free(w->name);
        g_free(w);
    }
    g_ptr_array_free(wanted, TRUE);
}

static void free_files(GPtrArray *files)
{
    for (guint i = 0; i < files->len; i++) {
        struct elf_file *f = files->pdata[i];
        g_free(f->path);
        g_free(f);
    }
    g_ptr_array_free(files, TRUE);
}

void gt_exlog_where_fini(struct gt_exlog *e)
{
    struct gt_exlog_where *x = &e->where;
    g_free(x->program);
    GArray *arrays[] = {x->ranges, x->points, x->modules};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        if (arrays[i])
            g_array_free(arrays[i], TRUE);
    if (x->wanted)
        free_wanted(x->wanted);
    if (x->files)
        free_files(x->files);
}
