/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a trace-events file for one function: see declare.h. */
#include "events/guest/declare.h"

#include <glib.h>
#include <guesttrace/simpletrace.h>
#include <string.h>

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
static unsigned choose(const struct gt_abi *abi, const struct gt_prototypes *p,
                       const struct gt_prototype *item, struct argument out[])
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

char *gt_guest_event_name(const char *function)
{
    char *word = g_strdup(function);
    if (!*word || g_ascii_isdigit(*word) || word[strspn(word, WORD ".")]) {
        g_free(word);
        return NULL;
    }
    return g_strcanon(word, WORD, '_');
}

void gt_guest_event_declare(const struct gt_abi *abi, const struct gt_prototypes *p,
                            const struct gt_prototype *item, const char *name, const char *event,
                            struct gt_text *out)
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

bool gt_guest_event_has_result(const struct gt_prototypes *p, const struct gt_prototype *item)
{
    return word_of(p->types, gt_type_get(p->types, item->type)->of) && !item->changed &&
           !item->no_result;
}

void gt_guest_event_declare_return(const struct gt_prototypes *p, const struct gt_prototype *item,
                                   const char *name, const char *event, struct gt_text *out)
{
    const struct word *word = word_of(p->types, gt_type_get(p->types, item->type)->of);
    put_name(out, name, "@return", event);
    gt_text_printf(out, "(");
    put_type(out, word->type);
    gt_text_printf(out, "ret) \"ret=%s\"\n", word->format);
}
