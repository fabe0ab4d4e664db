/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events files from prototypes: see expand.h. */
#include "events/guest/expand.h"

#include "base/file.h"
#include "base/text.h"
#include "guest/abi/abi.h"
#include "guest/types/btf.h"
#include "guest/types/dwarf.h"
#include "names/image/symbol_source.h"

#include <glib.h>
#include <guesttrace/control.h>
#include <guesttrace/simpletrace.h>
#include <string.h>

/* Lines of a trace-events file for one function: see expand.h. */

/* Lines of a trace-events file for one function: see expand.h. */

#define WORD G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_"

struct word {
    const char *type, *format; /* the format in a trace-events file */
};

/* Names of types that a trace-events file has itself. */
static const struct word *named(const char *name)
{
    static const struct word words[] = {
        {"size_t", "%zu"},
        {"ssize_t", "%zd"},
        {"uintptr_t", "0x%\"PRIxPTR\""},
        {"ptrdiff_t", "%td"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(words[i].type, name) == 0)
            return &words[i];
    return NULL;
}

static const struct word *integer(const struct gt_type *t)
{
    static const struct word words[4][2] = {
        {{"uint8_t", "%u"}, {"int8_t", "%d"}},
        {{"uint16_t", "%u"}, {"int16_t", "%d"}},
        {{"uint32_t", "%u"}, {"int32_t", "%d"}},
        {{"uint64_t", "0x%\"PRIx64\""}, {"int64_t", "%\"PRId64\""}},
    };
    static const struct word plain[2] = {{"unsigned int", "%u"}, {"int", "%d"}};
    switch (t->size) {
    case 1:
        return &words[0][t->is_signed];
    case 2:
        return &words[1][t->is_signed];
    case 4:
        return strstr(t->name, "int") || t->kind == GT_TYPE_ENUM ? &plain[t->is_signed]
                                                                 : &words[2][t->is_signed];
    case 8:
        return &words[3][t->is_signed];
    default:
        return NULL;
    }
}

/* How a trace-events file has the type; NULL: it cannot. */
static const struct word *word_of(const struct gt_types *types, uint32_t id)
{
    static const struct word string = {"const char *", "%s"}, pointer = {"void *", "%p"},
                             boolean = {"bool", "%d"}, character = {"char", "%d"};
    for (int i = 0; i < GT_TYPE_STEPS; i++) {
        const struct gt_type *t = gt_type_get(types, id);
        const struct word *known = t->kind == GT_TYPE_TYPEDEF ? named(t->name) : NULL;
        if (known)
            return known;
        if (t->kind != GT_TYPE_TYPEDEF)
            break;
        id = t->of;
    }
    const struct gt_type *t = gt_type_plain(types, id);
    switch (t->kind) {
    case GT_TYPE_POINTER:
        return gt_type_plain(types, t->of)->kind == GT_TYPE_CHAR ? &string : &pointer;
    case GT_TYPE_BOOL:
        return &boolean;
    case GT_TYPE_CHAR:
        return &character;
    case GT_TYPE_INT:
    case GT_TYPE_ENUM:
        return integer(t);
    default:
        return NULL;
    }
}

static bool same_place(const struct gt_abi_value *a, const struct gt_abi_value *b)
{
    if (a->unknown || b->unknown || a->n != b->n || a->by_reference || b->by_reference)
        return false;
    for (unsigned i = 0; i < a->n; i++) {
        const struct gt_abi_piece *x = &a->piece[i], *y = &b->piece[i];
        if (!x->reg != !y->reg || (x->reg ? strcmp(x->reg, y->reg) != 0 : x->stack != y->stack))
            return false;
    }
    return true;
}

static bool is_word(const char *name)
{
    return *name && !g_ascii_isdigit(*name) && !name[strspn(name, WORD)];
}

static void put_argument_name(struct gt_text *out, const char *name, uint32_t i)
{
    if (is_word(name))
        gt_text_printf(out, "%s", name);
    else
        gt_text_printf(out, "arg%u", i + 1);
}

struct argument {
    const struct word *word;
    uint32_t index;
};

/* How many of the n a recorder finds where they are: it knows the event's arguments, neither a
 * struct's address for the result before them nor floats between them. */
static unsigned count_found(const struct gt_abi *abi, const struct gt_types *types,
                            const struct gt_type_param *q, const struct gt_abi_value *known,
                            const struct argument a[], unsigned n)
{
    struct gt_types *own = gt_types_new(types);
    struct gt_abi_value result, place[GT_TRACE_ARGUMENTS_MAX];
    unsigned found = 0;
    if (!own)
        return 0;
    uint32_t id = gt_types_add(own, &(struct gt_type){.name = "", .kind = GT_TYPE_FUNCTION});
    for (unsigned i = 0; i < n; i++)
        gt_types_add_param(own, id, &(struct gt_type_param){"", q[a[i].index].type});
    if (gt_types_status(own) == 0) {
        gt_abi_place(abi, own, id, &result, place);
        while (found < n && same_place(&known[a[found].index], &place[found]))
            found++;
    }
    gt_types_free(own);
    return found;
}

/* The parameters that the event has. */
static unsigned choose(const struct gt_abi *abi, const struct gt_type_prototypes *p,
                       const struct gt_type_prototype *item, struct argument out[])
{
    const struct gt_type *t = gt_type_get(p->types, item->type);
    const struct gt_type_param *q = gt_type_params(p->types, item->type);
    struct gt_abi_value result;
    g_autofree struct gt_abi_value *known = g_new0(struct gt_abi_value, t->n + 1);
    unsigned n = 0;
    gt_abi_place_prototype(abi, p, item, &result, known);
    for (uint32_t i = 0; q && i < t->n && n < GT_TRACE_ARGUMENTS_MAX; i++) {
        const struct word *word = word_of(p->types, q[i].type);
        bool is_float = gt_type_plain(p->types, q[i].type)->kind == GT_TYPE_FLOAT;
        if (is_float && abi->n_float && !abi->floating[0])
            break;
        if (is_float && abi->n_float)
            continue;
        if (!word)
            break;
        out[n++] = (struct argument){word, i};
    }
    return count_found(abi, p->types, q, known, out, n);
}

static void put_type(struct gt_text *out, const char *type)
{
    gt_text_printf(out, "%s%s", type, type[strlen(type) - 1] == '*' ? "" : " ");
}

static void put_name(struct gt_text *out, const char *name, const char *at, const char *event)
{
    if (*at || strcmp(event, name) != 0)
        gt_text_printf(out, "at=%s%s ", name, at);
    gt_text_printf(out, "%s", event);
}

/* The name of a function's event: f_isra_0 of f.isra.0. The caller frees it (g_free). NULL: no
 * place in a trace-events file can be the function. */
static char *guest_event_name(const char *function)
{
    char *word = g_strdup(function);
    if (!*word || g_ascii_isdigit(*word) || word[strspn(word, WORD ".")]) {
        g_free(word);
        return NULL;
    }
    return g_strcanon(word, WORD, '_');
}

/* The event of the function's first instruction. An argument's name that is not a word of C is
 * argN.
 */
static void guest_event_declare(const struct gt_abi *abi, const struct gt_type_prototypes *p,
                                const struct gt_type_prototype *item, const char *name,
                                const char *event, struct gt_text *out)
{
    const struct gt_type_param *q = gt_type_params(p->types, item->type);
    struct argument a[GT_TRACE_ARGUMENTS_MAX];
    unsigned n = choose(abi, p, item, a);
    put_name(out, name, "", event);
    gt_text_printf(out, "(%s", n ? "" : "void");
    for (unsigned i = 0; i < n; i++) {
        gt_text_printf(out, "%s", i ? ", " : "");
        put_type(out, a[i].word->type);
        put_argument_name(out, q[a[i].index].name, a[i].index);
    }
    gt_text_printf(out, ") \"");
    for (unsigned i = 0; i < n; i++) {
        gt_text_printf(out, "%s", i ? " " : "");
        put_argument_name(out, q[a[i].index].name, a[i].index);
        gt_text_printf(out, "=%s", a[i].word->format);
    }
    gt_text_printf(out, "\"\n");
}

/* It has a result that an event can have; the event of its return. */
static bool guest_event_has_result(const struct gt_type_prototypes *p,
                                   const struct gt_type_prototype *item)
{
    return word_of(p->types, gt_type_get(p->types, item->type)->of) && !item->changed &&
           !item->no_result;
}

static void guest_event_declare_return(const struct gt_type_prototypes *p,
                                       const struct gt_type_prototype *item, const char *name,
                                       const char *event, struct gt_text *out)
{
    const struct word *word = word_of(p->types, gt_type_get(p->types, item->type)->of);
    put_name(out, name, "@return", event);
    gt_text_printf(out, "(");
    put_type(out, word->type);
    gt_text_printf(out, "ret) \"ret=%s\"\n", word->format);
}

enum { FILE_MOST = 64 << 20 };

struct file {
    struct gt_image_symbol_source source;
    struct gt_type_prototypes *prototypes; /* NULL: it has none */
    const struct gt_abi *abi;
};

struct gt_events_guest_functions {
    struct file *file;
    size_t n;
    GHashTable *written; /* names of functions */
    GHashTable *events;  /* names of events */
};

/* ---- files --------------------------------------------------------------------------------- */

static const struct file *kernel_of(const struct gt_events_guest_functions *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->file[i].source.kind == GT_SOURCE_KERNEL && g->file[i].prototypes)
            return &g->file[i];
    return NULL;
}

static int read_prototypes(const struct gt_events_guest_functions *g, struct file *f,
                           struct gt_error *err)
{
    const struct gt_image_symbol_source *s = &f->source;
    const struct file *kernel = kernel_of(g);
    int status;
    switch (s->kind) {
    case GT_SOURCE_ELF:
        f->abi = gt_abi_by_elf(s->symbols->e_machine, s->symbols->bits);
        return gt_type_dwarf_prototypes(s->opened, NULL, &f->prototypes, err);
    case GT_SOURCE_KERNEL:
        f->abi = gt_abi_of_kernel(s->kernel->e_machine, s->kernel->bits);
        status = gt_type_btf_prototypes(s->kernel, &f->prototypes, err);
        return status < 0 ? gt_type_dwarf_prototypes(s->opened, NULL, &f->prototypes, err) : 0;
    default:
        f->abi = gt_abi_of_kernel(s->ko->e_machine, s->ko->bits);
        if (!kernel)
            return gt_error_set(err, GT_E_NOT_FOUND,
                                "%s: a module's types need its kernel's: give the kernel, too",
                                s->opened);
        return gt_type_btf_module_prototypes(s->ko, kernel->source.kernel, kernel->prototypes,
                                             &f->prototypes, err);
    }
}

int gt_events_guest_functions_load(const char *const *files, size_t n, bool strict,
                                   struct gt_events_guest_functions **out, struct gt_error *err)
{
    struct gt_events_guest_functions *g = g_new0(struct gt_events_guest_functions, 1);
    int status = 0;
    g->file = g_new0(struct file, n + 1);
    g->written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g->events = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < n && status == 0; i++) {
        struct file *f = &g->file[g->n];
        status = gt_image_symbol_source_load(files[i], &f->source, err);
        bool loaded = status == 0;
        if (loaded)
            status = read_prototypes(g, f, err);
        g->n += loaded;
        if (status < 0 && status != GT_E_NOMEM && (!strict || (loaded && n > 1)))
            status = 0;
    }
    if (status < 0) {
        gt_events_guest_functions_free(g);
        g = NULL;
    }
    *out = g;
    return status;
}

void gt_events_guest_functions_free(struct gt_events_guest_functions *g)
{
    if (!g)
        return;
    while (g->n > 0) { /* modules before the kernel that they stand on */
        struct file *f = &g->file[--g->n];
        gt_type_prototypes_free(f->prototypes);
        gt_image_symbol_source_clear(&f->source);
    }
    g_free(g->file);
    g_hash_table_destroy(g->written);
    g_hash_table_destroy(g->events);
    g_free(g);
}

/* ---- functions ----------------------------------------------------------------------------- */

/* A name that no other event has; it is the table's. */
static const char *take_name(struct gt_events_guest_functions *g, const char *name,
                             const char *suffix)
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
static bool write_function(struct gt_events_guest_functions *g, const struct file *f,
                           const struct gt_type_prototype *item, const char *name, bool returns,
                           struct gt_text *out)
{
    g_autofree char *event = guest_event_name(name);
    if (!event)
        return false;
    if (!g_hash_table_add(g->written, g_strdup(name)))
        return true;
    guest_event_declare(f->abi, f->prototypes, item, name, take_name(g, event, ""), out);
    if (returns && guest_event_has_result(f->prototypes, item))
        guest_event_declare_return(f->prototypes, item, name, take_name(g, event, "_return"), out);
    return true;
}

static size_t write_part(struct gt_events_guest_functions *g, const struct file *f,
                         const struct gt_image_source_part *part, const char *glob, bool returns,
                         struct gt_text *out)
{
    size_t n = 0;
    for (size_t i = 0; i < part->n; i++) {
        const struct gt_image_source_function *fn = &part->function[i];
        if (fn->unnamed || !gt_trace_match(glob, fn->name))
            continue;
        const struct gt_type_prototype *item = gt_type_prototypes_at(f->prototypes, fn->addr);
        if (!item)
            item = gt_type_prototypes_named(f->prototypes, fn->name);
        if (item && (!item->has_addr || f->source.kind != GT_SOURCE_ELF || item->addr == fn->addr))
            n += write_function(g, f, item, fn->name, returns, out);
    }
    return n;
}

size_t gt_events_guest_functions_write(struct gt_events_guest_functions *g, const char *glob,
                                       bool returns, struct gt_text *out)
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
static void leave_out(struct gt_events_guest_functions *g,
                      const struct gt_events_dynamic_events *events)
{
    for (size_t i = 0; i < events->n; i++) {
        const struct gt_events_dynamic_event *e = &events->event[i];
        g_hash_table_add(g->events, g_strdup(e->event.name));
        if (!e->at)
            g_hash_table_add(g->written, g_strdup(e->event.name));
    }
}

struct expansion {
    const char *path;
    const char *const *files;
    size_t n_files;
    const struct gt_events_dynamic_events *events; /* of lines with prototypes */
    unsigned line;
    struct gt_events_guest_functions *functions; /* NULL: not needed so far */
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
        if (gt_events_guest_functions_load(x->files, x->n_files, false, &x->functions, &why) < 0)
            return gt_error_set(err, why.status, "%s:%u: guest.%s: %s", x->path, x->line, glob,
                                why.text);
        leave_out(x->functions, x->events);
    }
    if (gt_events_guest_functions_write(x->functions, glob, false, x->out))
        return 0;
    return gt_error_set(err, GT_E_FORMAT,
                        "%s:%u: guest.%s: no function of that name has a prototype in %s%s",
                        x->path, x->line, glob, x->files[0], x->n_files > 1 ? " and others" : "");
}

/* A fault of a line is reported with the line of the user's file. */
static int check(const char *path, const char *text, size_t size,
                 struct gt_events_dynamic_events *events, struct gt_error *err)
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

int gt_events_guest_events_expand(const char *path, const char *const *files, size_t n,
                                  struct gt_text *out, struct gt_events_dynamic_events *events,
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
    gt_events_guest_functions_free(x.functions);
    free(text);
    if (status < 0 && checked)
        gt_events_dynamic_free(events);
    return status;
}
