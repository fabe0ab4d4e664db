/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places in the guest's code: range=LO-HI and sym=NAME, outside of which nothing is logged; start=
 * and stop=, an address or a function with a count.
 *
 * A function is looked for in the ELF files of elf=FILE[:OFFSET], at load; a program's also in each
 * file of which code is translated: its own, libraries.
 */
#include "plugin/execlog/execlog.h"

#include "base/range.h"
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
    const char *value;
    char *path;
    uint64_t offset;
};

static GArray *ranges;  /* struct range */
static GPtrArray *want; /* struct wanted */
static GArray *places;  /* struct place */
static GPtrArray *files;
static GArray *modules; /* struct range: code of which the functions are known, or that has none */
static bool restricted;

struct place {
    uint64_t pc;
    struct gt_exlog_trigger *trigger;
};

static void add_range(uint64_t lo, uint64_t hi)
{
    struct range r = {lo, hi};
    if (!ranges)
        ranges = g_array_new(FALSE, FALSE, sizeof r);
    g_array_append_val(ranges, r);
}

static void add_place(uint64_t pc, struct gt_exlog_trigger *trigger)
{
    struct place p = {pc, trigger};
    if (!places)
        places = g_array_new(FALSE, FALSE, sizeof p);
    g_array_append_val(places, p);
}

/* A hex number that ends at one of the characters, or at the end. */
static bool take_hex(const char **at, const char *ends, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, 16);
    bool good = g_ascii_isxdigit(**at) && !errno && strchr(ends, *end);
    *at = end;
    return good;
}

int gt_exlog_add_range(const char *value, struct gt_error *err)
{
    uint64_t lo, last;
    if (!gt_range_parse(value, &lo, &last))
        return gt_error_set(err, GT_E_USAGE, "argument range=%.200s: expected " GT_RANGE_EXPECTED,
                            value);
    add_range(lo, last + 1);
    restricted = true;
    return 0;
}

static struct wanted *add_wanted(const char *argument, const char *value)
{
    struct wanted *w = g_new0(struct wanted, 1);
    w->argument = argument;
    w->value = value;
    if (!want)
        want = g_ptr_array_new();
    g_ptr_array_add(want, w);
    return w;
}

int gt_exlog_add_symbol(const char *value, struct gt_error *err)
{
    if (!*value)
        return gt_error_set(err, GT_E_USAGE, "argument sym=: expected a function's name");
    add_wanted("sym", value)->name = g_strdup(value);
    restricted = true;
    return 0;
}

int gt_exlog_add_elf(const char *value, struct gt_error *err)
{
    struct elf_file *f = g_new0(struct elf_file, 1);
    const char *colon = strrchr(value, ':'), *at = colon ? colon + 1 : NULL;
    f->value = value;
    f->path = g_strdup(value);
    if (!*value || (colon && !take_hex(&at, "", &f->offset)))
        return gt_error_set(err, GT_E_USAGE,
                            "argument elf=%.200s: expected FILE, or FILE:OFFSET, in hex", value);
    if (colon)
        f->path[colon - value] = '\0';
    if (!files)
        files = g_ptr_array_new();
    g_ptr_array_add(files, f);
    return 0;
}

static int add_trigger(const char *argument, bool stop, const char *value, struct gt_error *err)
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
    struct wanted *w = add_wanted(argument, value);
    gt_exlog.chosen = true;
    w->trigger = (struct gt_exlog_trigger){.stop = stop, .count = count};
    if (address) {
        add_place(pc, &w->trigger);
        w->found = true;
    } else {
        w->name = g_steal_pointer(&name);
    }
    return 0;
}

int gt_exlog_add_start(const char *value, struct gt_error *err)
{
    gt_exlog.off = true;
    return add_trigger("start", false, value, err);
}

int gt_exlog_add_stop(const char *value, struct gt_error *err)
{
    return add_trigger("stop", true, value, err);
}

static void take_function(struct wanted *w, const struct gt_symbols *s, uint64_t base, uint64_t rel)
{
    const struct gt_symbol *f = gt_symbols_find(s, rel);
    w->found = true;
    if (w->trigger.count)
        add_place(base + rel, &w->trigger);
    else
        add_range(base + rel, base + rel + (f && f->addr == rel ? f->size : 1));
}

/* What is wanted of a file whose load base is there. */
static void take_functions(const struct gt_symbols *s, uint64_t base)
{
    for (guint i = 0; want && i < want->len; i++) {
        struct wanted *w = want->pdata[i];
        bool some = false;
        for (size_t k = 0; w->name && k < s->n_sym; k++)
            if (s->sym[k].type != 'P' && strcmp(s->sym[k].name, w->name) == 0) {
                take_function(w, s, base, s->sym[k].addr);
                some = true;
            }
        uint64_t rel;
        if (w->name && !some && gt_symbols_by_name(s, w->name, &rel) &&
            !gt_symbols_in_plt(s, rel)) /* it leads to another file's function of the name */
            take_function(w, s, base, rel);
    }
}

int gt_exlog_find_places(struct gt_error *err)
{
    for (guint i = 0; files && i < files->len; i++) {
        const struct elf_file *f = files->pdata[i];
        struct gt_symbols *s;
        int status = gt_symbols_load(f->path, &s, err);
        if (status < 0)
            return status;
        take_functions(s, s->load_base + f->offset);
        gt_symbols_free(s);
    }
    for (guint i = 0; want && i < want->len && gt_exlog.host.system; i++) {
        const struct wanted *w = want->pdata[i];
        if (!w->found)
            return gt_error_set(err, GT_E_NOT_FOUND, "argument %s=%.200s: no such function in %s",
                                w->argument, w->value,
                                files ? "the files of elf=" : "any file: expected elf=FILE, too");
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

void gt_exlog_learn_code(uint64_t pc, const void *host)
{
    static struct gt_mapping m; /* with the lock */
    if (gt_exlog.host.system || !want || !host || in_ranges(modules, pc))
        return;
    uint64_t guest = (uint64_t)(uintptr_t)host - pc;
    struct range r = {pc & ~UINT64_C(0xfff), (pc | 0xfff) + 1};
    struct gt_symbols *s;
    if (gt_process_mapping_at((uint64_t)(uintptr_t)host, &m) == 1) {
        r = (struct range){m.start - guest, m.end - guest};
        if (m.path[0] && !m.deleted && gt_symbols_load(m.path, &s, NULL) == 0) {
            take_functions(s, m.base - guest);
            gt_symbols_free(s);
        }
    }
    if (!modules)
        modules = g_array_new(FALSE, FALSE, sizeof r);
    g_array_append_val(modules, r);
}

bool gt_exlog_is_inside(uint64_t pc)
{
    return !restricted || in_ranges(ranges, pc);
}

struct gt_exlog_trigger *gt_exlog_trigger_at(uint64_t pc, size_t *from)
{
    for (; places && *from < places->len; ++*from) {
        const struct place *p = &g_array_index(places, struct place, *from);
        if (p->pc == pc) {
            ++*from;
            return p->trigger;
        }
    }
    return NULL;
}

void gt_exlog_tell_missing(void)
{
    for (guint i = 0; want && i < want->len; i++) {
        const struct wanted *w = want->pdata[i];
        if (!w->found)
            gt_host_message("argument %s=%.200s: no function of that name was seen", w->argument,
                            w->value);
    }
}
