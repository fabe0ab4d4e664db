/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and processes: see match.h. */
#include "names/processes/match.h"

#include "names/placement/load_offset.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FURTHER_MAX 4    /* places of a file that a process finds by itself */
#define KNOWN_MAX   4096 /* places that are compared with other processes */

/* Of all files in all processes so many are believed by chance at most, as a power of ten. */
#define CHANCE_MAX (-3.0)

/* A file at an offset. */
struct spot {
    const struct gt_image_symbol_source *source;
    uint64_t offset; /* 48 bits */
    size_t hits, entered;
    bool called; /* as the process is */
};

static bool is_placed(const GArray *places, const struct gt_image_source_part *part)
{
    for (guint i = 0; i < places->len; i++)
        if (g_array_index(places, struct gt_place, i).part == part)
            return true;
    return false;
}

static bool in_the_way(const GArray *places, const struct gt_place *p)
{
    for (guint i = 0; i < places->len; i++) {
        const struct gt_place *other = &g_array_index(places, struct gt_place, i);
        if (other->start < p->end && p->start < other->end)
            return true;
    }
    return false;
}

/* All of the file, or the entered part if it has a place or something else is around there. */
static bool add_place(struct gt_sysroot_process *process, const struct gt_image_symbol_source *s,
                      const struct gt_place_load_offset *v)
{
    GArray *places = process->places;
    struct gt_place p = gt_place_whole(s, s->part, v->offset);
    p.found = true;
    p.hits = v->hits;
    p.entered = v->seen;
    if (p.end > GT_UFTRACE_ADDR_MASK)
        return false;
    if (is_placed(places, s->part) || in_the_way(places, &p))
        gt_place_trim(&p, v);
    if (in_the_way(places, &p) || in_the_way(process->vague, &p))
        return false;
    g_array_append_val(places, p);
    gt_place_entries_remove(&process->left, p.start, p.end);
    return true;
}

/* tries: how often chance has tried, as a power of ten. */
static bool find(const struct gt_place_entries *e, const struct gt_image_symbol_source *s,
                 double tries, struct gt_place_load_offset *v)
{
    bool found = s->part->searched ? gt_place_load_offset_find(e, s->part, v, NULL) == 0
                                   : gt_place_load_offset_check(e, s->part, 0, v);
    return found && v->chance + tries <= CHANCE_MAX;
}

static gint by_place(gconstpointer a, gconstpointer b)
{
    const struct spot *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static gint most_hits(gconstpointer a, gconstpointer b)
{
    const struct spot *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits > y->hits ? -1 : 1;
    if (x->called != y->called)
        return x->called ? -1 : 1;
    return by_place(a, b);
}

static gint best_of_place(gconstpointer a, gconstpointer b)
{
    gint order = by_place(a, b);
    return order ? order : most_hits(a, b);
}

/* The guest keeps 15 bytes of a name. */
static bool is_called(const struct gt_image_symbol_source *s, const char *name)
{
    g_autofree char *base = g_path_get_basename(s->file);
    return name[0] && strncmp(base, name, 15) == 0;
}

static const struct gt_image_source_function *function_at(const struct spot *s, uint64_t entry)
{
    const uint64_t addr = (entry - s->offset) & GT_UFTRACE_ADDR_MASK;
    const struct gt_image_source_function *f = gt_image_source_part_find(s->source->part, addr);
    return f && f->addr == addr ? f : NULL;
}

/* Names that were made up from the file's own identify nothing where the code is the same. */
static bool differ(const struct spot *a, const struct spot *b, uint64_t entry)
{
    const struct gt_image_source_function *f = function_at(a, entry), *g = function_at(b, entry);
    const char *id = a->source->build_id;
    if (!g || (f && f->unnamed && g->unnamed && *id && strcmp(id, b->source->build_id) == 0))
        return false;
    return !f || strcmp(f->name, g->name) != 0;
}

/* Both explain as much, in one place, and would name it differently. */
static bool are_rivals(const struct spot *a, const struct spot *b,
                       const struct gt_place_entries *left)
{
    const struct gt_image_source_part *part = a->source->part;
    const uint64_t start = (part->lo + a->offset) & GT_UFTRACE_ADDR_MASK;
    const uint64_t end = start + (part->hi - part->lo);
    if (a->hits != b->hits || a->called != b->called)
        return false;
    for (size_t i = gt_place_entries_at(left, start); i < left->n && left->addr[i] < end; i++)
        if (differ(a, b, left->addr[i]))
            return true;
    return false;
}

static void report_rivals(const struct spot *a, const struct spot *b, GPtrArray *lines)
{
    if (a > b) {
        const struct spot *first = b;
        b = a;
        a = first;
    }
    char *line = g_strdup_printf("%s and %s fit equally well: neither has names where they do",
                                 a->source->file, b->source->file);
    if (g_ptr_array_find_with_equal_func(lines, line, g_str_equal, NULL))
        g_free(line);
    else
        g_ptr_array_add(lines, line);
}

/* The first one that is as good as the one at the index; they are sorted by hits. */
static const struct spot *find_rival(const GArray *spots, guint at,
                                     const struct gt_place_entries *left)
{
    const struct spot *s = (const struct spot *)(const void *)spots->data;
    for (guint i = at; i-- > 0 && s[i].hits == s[at].hits;)
        if (are_rivals(&s[at], &s[i], left))
            return &s[i];
    for (guint i = at + 1; i < spots->len && s[i].hits == s[at].hits; i++)
        if (are_rivals(&s[at], &s[i], left))
            return &s[i];
    return NULL;
}

/* What the process alone shows. */
static void match_alone(const struct gt_sysroot_files *files, double tries,
                        struct gt_sysroot_process *p, GPtrArray *lines)
{
    struct gt_place_load_offset v;
    GArray *spots = g_array_new(FALSE, FALSE, sizeof(struct spot));
    for (size_t i = 0; i < files->n; i++) {
        if (!find(&p->left, &files->source[i], tries, &v))
            continue;
        const struct spot spot = {&files->source[i], v.offset, v.hits, v.seen,
                                  is_called(&files->source[i], p->name)};
        g_array_append_val(spots, spot);
    }
    g_array_sort(spots, most_hits);
    for (guint i = 0; i < spots->len; i++) {
        const struct spot *spot = &g_array_index(spots, struct spot, i);
        const struct gt_image_symbol_source *s = spot->source;
        const struct spot *rival = find_rival(spots, i, &p->left);
        if (rival) {
            const struct gt_place place = gt_place_whole(s, s->part, spot->offset);
            g_array_append_val(p->vague, place);
            report_rivals(spot, rival, lines);
        }
        for (int k = 0; !rival && k <= FURTHER_MAX && find(&p->left, s, tries, &v); k++)
            if (!add_place(p, s, &v))
                break;
    }
    g_array_unref(spots);
}

/* The places of all processes, each once. */
static GArray *collect(const GArray *processes)
{
    GArray *known = g_array_new(FALSE, FALSE, sizeof(struct spot));
    for (guint i = 0; i < processes->len; i++) {
        const GArray *places = g_array_index(processes, struct gt_sysroot_process, i).places;
        for (guint k = 0; k < places->len; k++) {
            const struct gt_place *p = &g_array_index(places, struct gt_place, k);
            const struct spot spot = {p->source, p->offset & GT_UFTRACE_ADDR_MASK, p->hits,
                                      p->entered, false};
            g_array_append_val(known, spot);
        }
    }
    g_array_sort(known, best_of_place);
    guint kept = 0;
    for (guint i = 0; i < known->len && kept < KNOWN_MAX; i++) {
        const struct spot *s = &g_array_index(known, struct spot, i);
        if (kept == 0 || by_place(s, &g_array_index(known, struct spot, kept - 1)) != 0)
            g_array_index(known, struct spot, kept++) = *s;
    }
    g_array_set_size(known, kept);
    return known;
}

/* At least half as much as where it was found. */
static bool explains(const struct spot *s, const struct gt_place_load_offset *v)
{
    return (double)v->hits * 2 * (double)s->entered > (double)v->seen * (double)s->hits;
}

/* Again and again the one that explains most of the rest. */
static void match_known(const GArray *known, struct gt_sysroot_process *p)
{
    const struct gt_place_entries *left = &p->left;
    g_autofree bool *tried = g_new0(bool, known->len + 1);
    struct gt_place_load_offset v, best;
    for (guint chosen; left->n;) {
        chosen = known->len;
        best = (struct gt_place_load_offset){0};
        for (guint i = 0; i < known->len; i++) {
            const struct spot *s = &g_array_index(known, struct spot, i);
            if (tried[i])
                continue;
            gt_place_load_offset_score(left, s->source->part, s->offset, &v);
            if (v.hits > best.hits && explains(s, &v)) {
                best = v;
                chosen = i;
            }
        }
        if (chosen == known->len)
            return;
        tried[chosen] = true;
        add_place(p, g_array_index(known, struct spot, chosen).source, &best);
    }
}

void gt_sysroot_match(const struct gt_sysroot_files *files, GArray *processes, GPtrArray *lines)
{
    const double tries = log10((double)(files->n + 1) * (processes->len + 1));
    for (guint i = 0; i < processes->len; i++) {
        struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, i);
        p->left = (struct gt_place_entries){
            g_memdup2(p->entries.addr, p->entries.n * sizeof(uint64_t)), p->entries.n};
        match_alone(files, tries, p, lines);
    }
    GArray *known = collect(processes);
    for (guint i = 0; i < processes->len; i++) {
        struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, i);
        match_known(known, p);
    }
    g_array_unref(known);
}

struct found {
    GPtrArray *paths;
    GHashTable *seen; /* "DEV:INODE" */
    bool cut;
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* An executable or a shared object, of 64 bits: what runs in the machines that are recorded. */
static bool is_program(const char *path)
{
    unsigned char head[18];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool whole = read(fd, head, sizeof head) == (ssize_t)sizeof head;
    close(fd);
    return whole && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64 &&
           head[EI_DATA] == ELFDATA2LSB && (head[16] == ET_EXEC || head[16] == ET_DYN) &&
           head[17] == 0;
}

static void look_at(struct found *f, const FTSENT *e)
{
    const struct stat *st = e->fts_statp;
    if (!S_ISREG(st->st_mode) || st->st_size < (off_t)sizeof(Elf64_Ehdr) ||
        st->st_size > GT_SYSROOT_SIZE_MAX || !is_program(e->fts_path))
        return;
    if (f->paths->len == GT_SYSROOT_FILES_MAX) {
        f->cut = true;
        return;
    }
    char *id = g_strdup_printf("%ju:%ju", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
    if (g_hash_table_add(f->seen, id))
        g_ptr_array_add(f->paths, g_strdup(e->fts_path));
}

static int walk(const char *folder, struct found *f, struct gt_error *err)
{
    g_autofree char *root = g_strdup(folder);
    char *const roots[] = {root, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    if (!fts)
        return gt_error_set(err, GT_E_IO, "%s: %s", folder, strerror(errno));
    size_t n = 0;
    int status = 0;
    for (FTSENT *e; status == 0 && (e = fts_read(fts));) {
        if (e->fts_level == 0 && e->fts_info != FTS_D && e->fts_info != FTS_DP)
            status = gt_error_set(err, e->fts_errno == ENOENT ? GT_E_NOT_FOUND : GT_E_IO, "%s: %s",
                                  folder, strerror(e->fts_errno ? e->fts_errno : ENOTDIR));
        else if (e->fts_info == FTS_F)
            look_at(f, e);
        f->cut |= ++n > GT_SYSROOT_ENTRIES_MAX;
        if (n > GT_SYSROOT_ENTRIES_MAX)
            break;
    }
    fts_close(fts);
    return status;
}

/* One part, without an OFFSET, whatever the name. */
static bool load(const char *path, struct gt_image_symbol_source *out)
{
    g_autofree char *argument = g_canonicalize_filename(path, NULL);
    if (gt_image_symbol_source_load(argument, out, NULL) < 0)
        return false;
    if (out->kind == GT_SOURCE_ELF && !out->part[0].has_offset && out->part[0].n)
        return true;
    gt_image_symbol_source_clear(out);
    return false;
}

int gt_sysroot_files_load(const char *folder, struct gt_sysroot_files *out, struct gt_error *err)
{
    struct found f = {.paths = g_ptr_array_new_with_free_func(g_free),
                      .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    *out = (struct gt_sysroot_files){0};
    int status = walk(folder, &f, err);
    size_t functions = 0;
    out->source = g_new0(struct gt_image_symbol_source, f.paths->len + 1);
    for (guint i = 0; status == 0 && i < f.paths->len; i++) {
        struct gt_image_symbol_source *s = &out->source[out->n];
        if (!load(f.paths->pdata[i], s))
            continue;
        if (s->part[0].n > GT_SYSROOT_FUNCTIONS_MAX - functions) {
            gt_image_symbol_source_clear(s);
            f.cut = true;
            continue;
        }
        functions += s->part[0].n;
        s->part[0].order = gt_place_load_offset_order(&s->part[0]);
        out->n++;
    }
    out->cut = f.cut;
    g_ptr_array_unref(f.paths);
    g_hash_table_unref(f.seen);
    if (status < 0)
        gt_sysroot_files_clear(out);
    return status;
}

void gt_sysroot_files_clear(struct gt_sysroot_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        gt_image_symbol_source_clear(&f->source[i]);
    g_free(f->source);
    *f = (struct gt_sysroot_files){0};
}
