/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces of a recording: see spaces.h. */
#include "calls/read/spaces.h"

#include "base/search.h"
#include "calls/read/functions.h"
#include "calls/read/modules.h"
#include "calls/read/pairs.h"
#include "recording/texts/files.h"
#include "recording/texts/handlers.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { NO_MODULE = 1u << 31 }; /* number of a function's module: it has no symbol there */

/* What a map's line has. */
struct line {
    uint64_t start, end; /* 48 bits; end is exclusive */
    struct gt_calls_module *module;
};

struct library {
    uint64_t time, base;
    struct gt_calls_module *module;
};

struct map {
    struct line *line;
    size_t n;
    bool ordered;      /* by address, without overlaps */
    GArray *libraries; /* struct library, by time once spaces have numbers */
    uint32_t first;    /* of its spaces */
};

struct gt_calls_spaces {
    const struct gt_calls_texts *texts;
    struct gt_error_notices notices;
    bool relative;
    GPtrArray *maps;      /* struct map */
    GHashTable *by_sid;   /* their numbers, from 1 */
    GArray *map_of;       /* uint32_t: of each space */
    pthread_mutex_t lock; /* for the members below */
    struct gt_calls_modules modules;
    struct gt_calls_functions functions;
    struct gt_calls_pairs known; /* space and address to function */
    GPtrArray *names;            /* of addresses */
    GHashTable *handlers;        /* their addresses; from creation on */
};

void gt_calls_spaces_read_symbols(struct gt_calls_spaces *s)
{
    pthread_mutex_lock(&s->lock);
    for (guint i = 0; i < s->modules.list->len; i++)
        gt_calls_modules_symbol(&s->modules, s->modules.list->pdata[i], 0);
    pthread_mutex_unlock(&s->lock);
}

static void free_map(gpointer data)
{
    struct map *m = data;
    g_free(m->line);
    g_array_free(m->libraries, TRUE);
    g_free(m);
}

static struct map *add_map(struct gt_calls_spaces *s)
{
    struct map *m = g_new0(struct map, 1);
    m->ordered = true;
    m->libraries = g_array_new(FALSE, FALSE, sizeof(struct library));
    g_ptr_array_add(s->maps, m);
    return m;
}

static void add_handler(void *self, uint64_t address)
{
    struct gt_calls_spaces *s = self;
    g_hash_table_add(s->handlers, GSIZE_TO_POINTER(address));
}

/* A damaged line says nothing. */
static void read_handlers(struct gt_calls_spaces *s)
{
    char *text;
    size_t size;
    if (gt_calls_texts_read(s->texts, GT_HANDLERS_FILE, &text, &size, NULL) < 0)
        return;
    gt_recording_handlers_parse(text, add_handler, s);
    free(text);
}

static bool is_handler(const struct gt_calls_spaces *s, uint64_t address)
{
    return g_hash_table_contains(s->handlers, GSIZE_TO_POINTER(address));
}

/* GT_CALLS_SCHEDULE and GT_CALLS_PREEMPTED. */
static void add_schedule(struct gt_calls_spaces *s)
{
    static const char *const name[] = {"linux:schedule", "linux:schedule (pre-empted)"};
    for (size_t i = 0; i < G_N_ELEMENTS(name); i++) {
        struct gt_calls_function *f;
        gt_calls_functions_add(&s->functions, UINT32_MAX, UINT64_MAX - i, &f);
        if (!f)
            return;
        *f = (struct gt_calls_function){.name = name[i], .module = ""};
        gt_calls_functions_publish(&s->functions);
    }
}

struct gt_calls_spaces *gt_calls_spaces_create(const struct gt_calls_texts *texts, bool relative,
                                               const struct gt_error_notices *notices)
{
    struct gt_calls_spaces *s = g_new0(struct gt_calls_spaces, 1);
    s->texts = texts;
    s->notices = *notices;
    s->relative = relative;
    s->maps = g_ptr_array_new_with_free_func(free_map);
    s->by_sid = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->map_of = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    s->names = g_ptr_array_new_with_free_func(g_free);
    add_map(s); /* 0: of tasks without a session */
    pthread_mutex_init(&s->lock, NULL);
    gt_calls_modules_init(&s->modules, texts, notices);
    s->handlers = g_hash_table_new(NULL, NULL);
    read_handlers(s);
    add_schedule(s);
    return s;
}

void gt_calls_spaces_destroy(struct gt_calls_spaces *s)
{
    if (!s)
        return;
    g_ptr_array_free(s->maps, TRUE);
    g_hash_table_destroy(s->by_sid);
    g_array_free(s->map_of, TRUE);
    g_ptr_array_free(s->names, TRUE);
    g_hash_table_destroy(s->handlers);
    pthread_mutex_destroy(&s->lock);
    gt_calls_modules_finish(&s->modules);
    gt_calls_functions_finish(&s->functions);
    gt_calls_pairs_clear(&s->known);
    g_free(s);
}

/* ---- maps ---------------------------------------------------------------------------------- */

/* Lines of one file that follow each other are one module, which begins where the first does. */
static void take_lines(struct gt_calls_spaces *s, struct map *m, const struct gt_uftrace_map *map)
{
    const char *before = "";
    m->line = g_new(struct line, map->n + 1);
    for (size_t i = 0; i < map->n; i++) {
        const struct gt_uftrace_mapping *from = &map->line[i];
        if (m->n && strcmp(from->path, before) == 0) {
            m->line[m->n - 1].end = from->end;
            continue;
        }
        before = from->path;
        m->line[m->n++] = (struct line){
            from->start, from->end, gt_calls_modules_get(&s->modules, from->path, from->build_id)};
    }
    m->ordered = true;
    for (size_t i = 1; i < m->n; i++)
        m->ordered = m->ordered && m->line[i].start >= m->line[i - 1].end;
}

static gint compare_starts(gconstpointer a, gconstpointer b)
{
    const struct line *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Lines that do not overlap may as well stand in order of address. */
static void order_lines(struct map *m)
{
    g_autofree struct line *copy = g_new(struct line, m->n + 1);
    bool ordered = true;
    memcpy(copy, m->line, m->n * sizeof *copy);
    qsort(copy, m->n, sizeof *copy, compare_starts);
    for (size_t i = 1; i < m->n; i++)
        ordered = ordered && copy[i].start >= copy[i - 1].end;
    if (ordered)
        memcpy(m->line, copy, m->n * sizeof *copy);
    m->ordered = ordered;
}

static int read_map(struct gt_calls_spaces *s, struct map *m, const char *name,
                    struct gt_error *err)
{
    struct gt_uftrace_map map;
    struct gt_error why = {0};
    char *text;
    size_t size;
    int status = gt_calls_texts_read(s->texts, name, &text, &size, err);
    if (status < 0)
        return status;
    status = gt_uftrace_map_read(text, size, &map, &why);
    free(text);
    if (status < 0) {
        g_autofree char *place = gt_calls_texts_place(s->texts, name);
        return gt_error_set(err, status == GT_E_TRUNC ? GT_E_FORMAT : status, "%s: %s", place,
                            why.text);
    }
    take_lines(s, m, &map);
    if (!m->ordered)
        order_lines(m);
    gt_uftrace_map_free(&map);
    return 0;
}

int64_t gt_calls_spaces_add_map(struct gt_calls_spaces *s, const char *sid, struct gt_error *err)
{
    size_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(s->by_sid, sid));
    if (number)
        return (int64_t)number - 1;
    g_autofree char *name = g_strdup_printf("sid-%s.map", sid);
    struct map *m = add_map(s);
    g_hash_table_insert(s->by_sid, g_strdup(sid), GSIZE_TO_POINTER((size_t)s->maps->len));
    int status = read_map(s, m, name, err);
    if (status == GT_E_NOT_FOUND) {
        gt_error_notice(&s->notices, "%s: there is no %s; functions of the session have no names",
                        s->texts->path, name);
        status = 0;
    }
    return status < 0 ? status : (int64_t)s->maps->len - 1;
}

void gt_calls_spaces_add_library(struct gt_calls_spaces *s, size_t map, uint64_t time,
                                 uint64_t base, const char *path)
{
    struct map *m = s->maps->pdata[map];
    const struct library l = {time, base & GT_UFTRACE_ADDR_MASK,
                              gt_calls_modules_get(&s->modules, path, NULL)};
    g_array_append_val(m->libraries, l);
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
    const struct library *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

void gt_calls_spaces_number(struct gt_calls_spaces *s)
{
    for (guint i = 0; i < s->maps->len; i++) {
        struct map *m = s->maps->pdata[i];
        uint32_t number = i;
        m->first = s->map_of->len;
        g_array_sort(m->libraries, compare_times); /* stable: lines of one time keep their order */
        for (guint k = 0; k <= m->libraries->len; k++)
            g_array_append_val(s->map_of, number);
    }
}

size_t gt_calls_spaces_count(const struct gt_calls_spaces *s)
{
    return s->map_of->len;
}

uint32_t gt_calls_spaces_at(const struct gt_calls_spaces *s, size_t map, uint64_t time,
                            uint64_t *until)
{
    const struct map *m = s->maps->pdata[map];
    const struct library *l = (const struct library *)(const void *)m->libraries->data;
    size_t loaded = GT_SEARCH_UP_TO(l, (size_t)m->libraries->len, time, time);
    *until = loaded < m->libraries->len ? l[loaded].time : UINT64_MAX;
    return m->first + (uint32_t)loaded;
}

size_t gt_calls_spaces_map(const struct gt_calls_spaces *s, uint32_t space)
{
    return g_array_index(s->map_of, uint32_t, space);
}

/* ---- functions ----------------------------------------------------------------------------- */

static const struct line *find_line(const struct map *m, uint64_t address)
{
    if (m->ordered) {
        size_t i = GT_SEARCH_UP_TO(m->line, m->n, start, address);
        return i > 0 && address < m->line[i - 1].end ? &m->line[i - 1] : NULL;
    }
    for (size_t i = 0; i < m->n; i++)
        if (address >= m->line[i].start && address < m->line[i].end)
            return &m->line[i];
    return NULL;
}

/* The library loaded last that has a symbol there. */
static const struct gt_uftrace_symbol *find_loaded(struct gt_calls_spaces *s, const struct map *m,
                                                   size_t loaded, uint64_t address,
                                                   struct gt_calls_module **module)
{
    const struct gt_uftrace_symbol *symbol = NULL;
    for (size_t i = loaded; i-- > 0 && !symbol;) {
        const struct library *l = &g_array_index(m->libraries, struct library, i);
        if (address < l->base)
            continue;
        *module = l->module;
        symbol = gt_calls_modules_symbol(&s->modules, l->module, address - l->base);
    }
    return symbol;
}

/* `address`: where it is in the recording. */
static uint32_t add_symbol(struct gt_calls_spaces *s, struct gt_calls_module *module,
                           const struct gt_uftrace_symbol *symbol, uint64_t address)
{
    struct gt_calls_function *f;
    uint32_t index = gt_calls_functions_add(&s->functions, module->number, symbol->addr, &f);
    if (!f)
        return index;
    const struct gt_calls_line *line = gt_calls_modules_line(&s->modules, module, symbol->addr);
    *f = (struct gt_calls_function){.name = symbol->name,
                                    .module = module->path,
                                    .address = symbol->addr,
                                    .file = line ? line->file : NULL,
                                    .line = line ? line->line : 0,
                                    .lines = line ? line->lines : NULL,
                                    .size = symbol->size,
                                    .is_plt = symbol->type == 'P',
                                    .is_handler = is_handler(s, address)};
    gt_calls_functions_publish(&s->functions);
    return index;
}

static uint32_t add_address(struct gt_calls_spaces *s, const struct gt_calls_module *module,
                            uint64_t address)
{
    struct gt_calls_function *f;
    uint32_t number = module ? module->number | NO_MODULE : UINT32_MAX;
    uint32_t index = gt_calls_functions_add(&s->functions, number, address, &f);
    if (!f)
        return index;
    char *name = g_strdup_printf("<%" PRIx64 ">", address);
    g_ptr_array_add(s->names, name);
    *f = (struct gt_calls_function){.name = name,
                                    .module = module ? module->path : "",
                                    .address = address,
                                    .is_address = true,
                                    .is_handler = is_handler(s, address)};
    gt_calls_functions_publish(&s->functions);
    return index;
}

static uint32_t resolve(struct gt_calls_spaces *s, uint32_t space, uint64_t address)
{
    const struct map *m = s->maps->pdata[gt_calls_spaces_map(s, space)];
    const struct line *line = find_line(m, address);
    struct gt_calls_module *module = line ? line->module : NULL;
    const struct gt_uftrace_symbol *symbol =
        line ? gt_calls_modules_symbol(&s->modules, module,
                                       address - (s->relative ? line->start : 0))
             : NULL;
    if (!symbol)
        symbol = find_loaded(s, m, space - m->first, address, &module);
    return symbol ? add_symbol(s, module, symbol, address)
                  : add_address(s, line ? line->module : NULL, address);
}

uint32_t gt_calls_spaces_resolve(struct gt_calls_spaces *s, uint32_t space, uint64_t address)
{
    pthread_mutex_lock(&s->lock);
    uint32_t index = gt_calls_pairs_get(&s->known, space, address);
    if (index == GT_PAIRS_NONE) {
        index = resolve(s, space, address);
        if (index != GT_PAIRS_NONE && !gt_calls_pairs_put(&s->known, space, address, index))
            index = GT_PAIRS_NONE;
    }
    pthread_mutex_unlock(&s->lock);
    return index;
}

size_t gt_calls_spaces_n_functions(const struct gt_calls_spaces *s)
{
    return gt_calls_functions_count(&s->functions);
}

const struct gt_calls_function *gt_calls_spaces_function(const struct gt_calls_spaces *s,
                                                         uint32_t index)
{
    return gt_calls_functions_at(&s->functions, index);
}
