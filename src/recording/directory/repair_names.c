/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs the text files with names: maps, symbols, source lines, statistics.
 *
 * After disk errors such a file may be cut, empty, or damaged. Complete lines are kept. A map ends
 * with the [stack] line; our symbol files begin with the number of symbols and end with an end
 * marker; so a file that was cut between two lines is detected as well.
 */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/dir_internal.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAPS_MOST = 4096 }; /* of a directory: more are not looked at */

struct names {
    const struct gt_uftrace_dir *dir;
    const struct gt_uftrace_repair_options *opt;
    struct gt_uftrace_repair_stats *stats;
    struct gt_uftrace_map *map; /* of the sessions */
    size_t n_maps;
};

/* A file that is looked at. */
struct found {
    const char *name;
    char path[GT_UFTRACE_FILE_MAX];
    char *text;
    size_t size;
};

void gt_uftrace_repair_report(const struct gt_uftrace_repair_options *opt,
                              struct gt_uftrace_repair_stats *stats, const char *file,
                              const char *format, ...)
{
    char text[300];
    va_list args;
    stats->texts++;
    if (!opt || !opt->report)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    opt->report(opt->self, file, text);
}

static const char *state_of(size_t size, size_t kept)
{
    return !size ? "it was empty" : kept ? "it was cut off or damaged" : "it was not readable";
}

/* ---- maps ---------------------------------------------------------------------------------- */

static bool is_map_line(const struct gt_text_cursor *line, bool *stack)
{
    struct gt_uftrace_map one;
    if (gt_uftrace_map_read(line->at, line->left + 1, &one, NULL) < 0)
        return false;
    *stack |= one.has_stack;
    bool is_module = one.n == 1;
    gt_uftrace_map_free(&one);
    return is_module;
}

/* The lines that are whole; *bad: others, or the end is missing. */
static int keep_map_lines(const char *text, size_t size, struct gt_text *out, size_t *kept,
                          bool *bad, struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    bool whole, stack = false;
    *kept = 0;
    *bad = false;
    while (gt_text_take_line(&all, &line, &whole)) {
        bool was_stack = stack;
        if (whole && is_map_line(&line, &stack)) {
            gt_text_add(out, line.at, line.left + 1);
            ++*kept;
        } else if (stack == was_stack) {
            *bad = true;
        }
    }
    *bad |= !stack;
    return gt_uftrace_map_write(out, NULL, 0, err); /* the end */
}

static int mend_map(struct names *n, const struct found *f, struct gt_error *err)
{
    struct gt_text out = {0};
    size_t kept;
    bool bad;
    int status = keep_map_lines(f->text, f->size, &out, &kept, &bad, err);
    if (!status && bad)
        status = gt_uftrace_dir_put_text(n->dir, f->name, &out, err);
    if (!status && bad)
        gt_uftrace_repair_report(n->opt, n->stats, f->name,
                                 "%s: %zu modules kept; functions of others have no names until "
                                 "'guesttrace symbols' is given their files",
                                 state_of(f->size, kept), kept);
    if (!status && n->n_maps < MAPS_MOST)
        n->n_maps += gt_uftrace_map_read(out.data, out.len, &n->map[n->n_maps], NULL) == 0;
    gt_text_free(&out);
    return status;
}

/* ---- symbols ------------------------------------------------------------------------------- */

struct sym_file {
    struct gt_text good; /* lines that can be read */
    size_t said, n;      /* symbols: as its first line says; 0: it does not */
    bool ended, bad;     /* the last line is an end marker; some line cannot be read */
    bool sized;          /* symbols say their sizes: uftrace 0.14 and later put no end */
};

static bool is_sym_line(const struct gt_text_cursor *line, bool *sized)
{
    struct gt_uftrace_symtab tab;
    if (gt_uftrace_sym_read(line->at, line->left + 1, &tab, NULL) < 0)
        return false;
    *sized |= tab.n && tab.sym[0].size;
    gt_uftrace_symtab_free(&tab);
    return true;
}

static void look_at_symbols(const char *text, size_t size, struct sym_file *s)
{
    struct gt_text_cursor all = {text, size}, line;
    bool whole;
    while (gt_text_take_line(&all, &line, &whole)) {
        struct gt_text_cursor c = line;
        uint64_t said;
        if (!whole || !is_sym_line(&line, &s->sized)) {
            s->bad = true;
            continue;
        }
        gt_text_add(&s->good, line.at, line.left + 1);
        if (gt_text_take(&c, "# symbols: ") && gt_text_take_dec(&c, SIZE_MAX, &said))
            s->said = (size_t)said;
        if (line.left && *line.at == '#')
            continue;
        s->ended = memmem(line.at, line.left, " ? ", 3) != NULL;
        s->n += !s->ended;
    }
    s->bad |= !size || (!s->sized && (s->n < s->said || !s->ended));
}

/* BASE.sym or BASE-XXXX.sym */
static bool is_symbols_of(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t len = strlen(base), left = strlen(name) - 4;
    return left >= len && !memcmp(name, base, len) &&
           (left == len || (left == len + 5 && name[len] == '-'));
}

/* The module of that file, as far as the maps and the rest of the file say. */
static bool find_module(const struct names *n, const char *name,
                        const struct gt_uftrace_symtab *left, struct gt_uftrace_module *m)
{
    for (size_t i = 0; i < n->n_maps; i++)
        for (size_t k = 0; k < n->map[i].n; k++) {
            const struct gt_uftrace_mapping *line = &n->map[i].line[k];
            if (left->path[0] ? strcmp(left->path, line->path) != 0
                              : !is_symbols_of(name, line->path))
                continue;
            *m = (struct gt_uftrace_module){line->path, line->build_id};
            return true;
        }
    *m = (struct gt_uftrace_module){left->path, left->build_id};
    return left->path[0] != '\0';
}

static int put_again(struct names *n, const struct found *f, const struct sym_file *s,
                     struct gt_error *err)
{
    char none[] = "";
    struct gt_uftrace_symtab left = {0};
    struct gt_uftrace_module m;
    if (gt_uftrace_sym_read(s->good.data, s->good.len, &left, NULL) < 0)
        left = (struct gt_uftrace_symtab){.path = none, .build_id = none};
    const char *what = state_of(f->size, left.n);
    int status = 0;
    unlink(f->path);
    if (!find_module(n, f->name, &left, &m)) {
        gt_uftrace_repair_report(n->opt, n->stats, f->name, "%s: removed; no module has it", what);
    } else if (n->opt && n->opt->symbols && n->opt->symbols(n->opt->self, n->dir, &m)) {
        gt_uftrace_repair_report(n->opt, n->stats, f->name, "%s: written anew from %s", what,
                                 m.path);
    } else {
        status = gt_uftrace_dir_put_symbols(n->dir, &m, left.sym, left.n, err);
        gt_uftrace_repair_report(n->opt, n->stats, f->name, "%s: %zu symbols kept", what, left.n);
    }
    if (left.storage)
        gt_uftrace_symtab_free(&left);
    return status;
}

static int mend_symbols(struct names *n, const struct found *f, struct gt_error *err)
{
    struct sym_file s = {0};
    int status = 0;
    look_at_symbols(f->text, f->size, &s);
    if (s.good.failed)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
    else if (s.bad)
        status = put_again(n, f, &s, err);
    gt_text_free(&s.good);
    return status;
}

/* Source lines can be made anew from the program, by readers as well. */
static int mend_debug(struct names *n, const struct found *f, struct gt_error *err)
{
    struct gt_uftrace_dbginfo info;
    (void)err;
    if (f->size && gt_uftrace_dbg_read(f->text, f->size, &info, NULL) == 0) {
        gt_uftrace_dbginfo_free(&info);
    } else {
        unlink(f->path);
        gt_uftrace_repair_report(n->opt, n->stats, f->name, "%s: removed, with its source lines",
                                 state_of(f->size, 0));
    }
    return 0;
}

/* ---- statistics ---------------------------------------------------------------------------- */

static bool is_stat(struct gt_text_cursor line) /* KEY=VALUE */
{
    const char *equals = memchr(line.at, '=', line.left);
    for (size_t i = 0; i < line.left; i++)
        if ((unsigned char)line.at[i] < ' ')
            return false;
    return equals && equals > line.at;
}

static int mend_stats(struct names *n, const struct found *f, struct gt_error *err)
{
    struct gt_text_cursor all = {f->text, f->size}, line;
    struct gt_text out = {0};
    size_t kept = 0;
    bool whole, bad;
    int status = 0;
    for (bad = !f->size; gt_text_take_line(&all, &line, &whole);) {
        if (!whole || !is_stat(line)) {
            bad = true;
            continue;
        }
        gt_text_add(&out, line.at, line.left + 1);
        kept++;
    }
    if (bad && !memmem(f->text, f->size, "tasks=", 6))
        gt_text_printf(&out, "tasks=%" PRIu64 "\n", n->stats->files);
    if (bad && !memmem(f->text, f->size, "records=", 8))
        gt_text_printf(&out, "records=%" PRIu64 "\n", n->stats->records);
    if (bad)
        status = gt_uftrace_dir_put_text(n->dir, f->name, &out, err);
    if (bad && !status)
        gt_uftrace_repair_report(n->opt, n->stats, f->name, "%s: %zu numbers kept",
                                 state_of(f->size, kept), kept);
    gt_text_free(&out);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

static const struct {
    const char *prefix, *suffix;
    int (*repair)(struct names *n, const struct found *f, struct gt_error *err);
} kinds[] = {
    {"sid-", ".map", mend_map}, /* first: the maps say whose the symbols are */
    {"", ".sym", mend_symbols},
    {"", ".dbg", mend_debug},
    {"guesttrace", ".stats", mend_stats},
};

static bool is_kind(const char *name, size_t kind)
{
    size_t len = strlen(name), prefix = strlen(kinds[kind].prefix),
           suffix = strlen(kinds[kind].suffix);
    return len >= prefix + suffix && !memcmp(name, kinds[kind].prefix, prefix) &&
           !strcmp(name + len - suffix, kinds[kind].suffix);
}

static int mend_file(struct names *n, size_t kind, const char *name, struct gt_error *err)
{
    struct found f = {.name = name};
    gt_uftrace_dir_file(n->dir, name, f.path);
    int status = gt_uftrace_dir_read_text(n->dir, name, GT_UFTRACE_TEXT_MAX, &f.text, &f.size, err);
    if (status)
        return status;
    status = kinds[kind].repair(n, &f, err);
    free(f.text);
    return status;
}

/* The first error is kept; the others are mended all the same. */
static int mend_kind(struct names *n, size_t kind, struct gt_error *err)
{
    struct dirent **list;
    int status = 0, count = scandir(n->dir->path, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        struct gt_error why = {0};
        int one = is_kind(list[i]->d_name, kind) ? mend_file(n, kind, list[i]->d_name, &why) : 0;
        if (one && !status) {
            status = one;
            if (err)
                *err = why;
        }
        free(list[i]);
    }
    if (count >= 0)
        free(list);
    return status;
}

int gt_uftrace_dir_repair_names(const struct gt_uftrace_dir *d,
                                const struct gt_uftrace_repair_options *opt,
                                struct gt_uftrace_repair_stats *stats, struct gt_error *err)
{
    struct names n = {d, opt, stats, calloc(MAPS_MOST, sizeof *n.map), 0};
    int status = n.map ? 0 : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", d->path);
    for (size_t kind = 0; n.map && kind < sizeof kinds / sizeof *kinds; kind++) {
        int one = mend_kind(&n, kind, status ? NULL : err);
        status = status ? status : one;
    }
    for (size_t i = 0; i < n.n_maps; i++)
        gt_uftrace_map_free(&n.map[i]);
    free(n.map);
    return status;
}
