/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of what arguments point to: see fields.h. */
#include "calls/arguments/fields.h"

#include "calls/arguments/spec_private.h"

#include <string.h>

/* ---- where a member is --------------------------------------------------------------------- */

/* Adds to the source of a struct's address (or of the struct itself): the member `offset` bytes in
 * it, `size` bytes. False: that source cannot say where it is. */
static bool place_member(const struct gt_value_item *of, uint64_t offset, uint64_t size,
                         struct gt_value_item *to)
{
    struct gt_value_piece *p = &to->piece[0];
    uint64_t at = 0;
    to->n_pieces = 1;
    if (of->format != GT_VALUE_STRUCT) { /* an address */
        *p = of->piece[0];
        p->size = 0;
        p->step[p->n_steps++] = (int32_t)offset;
        return of->n_pieces == 1 && of->piece[0].n_steps < GT_VALUE_STEPS;
    }
    for (unsigned i = 0; i < of->n_pieces; i++) {
        unsigned have = of->piece[i].size ? of->piece[i].size : of->size;
        if (offset >= at && offset + size <= at + have) {
            *p = of->piece[i];
            p->size = 0;
            if (p->n_steps)
                p->step[p->n_steps - 1] += (int32_t)(offset - at);
            else
                p->offset += (int32_t)(offset - at);
            return true;
        }
        at += have;
    }
    return false;
}

/* One more address to follow. */
static bool follow(struct gt_value_item *item, uint64_t offset)
{
    struct gt_value_piece *p = &item->piece[0];
    if (p->n_steps == GT_VALUE_STEPS || offset > INT32_MAX)
        return false;
    p->step[p->n_steps++] = (int32_t)offset;
    return true;
}

/* The format and size of a member; false: it is left out. */
static bool set_type(struct gt_arguments *a, const struct gt_types *types, uint32_t type,
                     struct gt_value_item *item)
{
    const struct gt_type *t = gt_type_plain(types, type);
    uint64_t size = gt_type_size(types, type);
    if (t->kind == GT_TYPE_ARRAY && gt_type_plain(types, t->of)->kind == GT_TYPE_CHAR) {
        item->format = GT_VALUE_CHARS;
        item->size = (uint16_t)MIN(size, GT_VALUE_SIZE_MOST);
        return size > 0;
    }
    gt_arguments_set_format(a, types, type, item);
    item->is_float = false; /* it is not an argument of its own */
    if (item->format == GT_VALUE_STRUCT)
        return false;
    item->size = gt_value_is_text(item->format) ? 0 : (uint16_t)MIN(size, GT_VALUE_SIZE_MOST);
    return gt_value_size_fits(item->format, item->size);
}

static void name_member(struct gt_arguments *a, const struct gt_value_item *of, const char *name,
                        struct gt_value_item *item)
{
    char *text = of->name ? g_strdup_printf("%s.%s", of->name, name)
                          : g_strdup_printf("arg%u.%s", of->number, name);
    g_ptr_array_add(a->owned, text);
    item->name = text;
}

/* Puts it behind the argument and the members that it has already. */
static void insert(struct gt_value_spec *spec, size_t of, const struct gt_value_item *item)
{
    size_t all = spec->n_arguments + spec->n_returns, at = of + 1;
    if (spec->n_arguments == GT_VALUES_MOST)
        return;
    while (at < spec->n_arguments && !spec->item[at].number)
        at++;
    memmove(&spec->item[at + 1], &spec->item[at], (all - at) * sizeof *item);
    spec->item[at] = *item;
    spec->n_arguments++;
}

/* ---- arguments and their types ------------------------------------------------------------- */

/* The type of an argument of the spec; 0: not known. */
static uint32_t type_of(const struct gt_type_prototypes *p, const struct gt_type_prototype *item,
                        const struct gt_value_item *of)
{
    const struct gt_type *t = gt_type_get(p->types, item->type);
    const struct gt_type_param *q = gt_type_params(p->types, item->type);
    unsigned integers = 0, floats = 0;
    for (uint32_t i = 0; q && i < t->n; i++) {
        bool is_float = gt_type_plain(p->types, q[i].type)->kind == GT_TYPE_FLOAT;
        unsigned number = is_float ? ++floats : ++integers;
        if (is_float == of->is_float && number == of->number)
            return q[i].type;
    }
    return 0;
}

/* The struct that the argument is, or points to; 0: none. */
static uint32_t struct_of(const struct gt_types *types, uint32_t type)
{
    const struct gt_type *t = gt_type_plain(types, type);
    uint32_t id = gt_type_resolve(types, t->kind == GT_TYPE_POINTER ? t->of : type);
    uint8_t kind = gt_type_get(types, id)->kind;
    return kind == GT_TYPE_STRUCT || kind == GT_TYPE_UNION ? id : 0;
}

void gt_arguments_add_members(struct gt_arguments *a, const struct gt_type_prototypes *p,
                              const struct gt_type_prototype *item, unsigned number,
                              struct gt_value_spec *spec)
{
    size_t at = 0;
    while (at < spec->n_arguments && (spec->item[at].number != number || spec->item[at].is_float))
        at++;
    if (at == spec->n_arguments)
        return;
    const struct gt_value_item of = spec->item[at];
    uint32_t id = struct_of(p->types, type_of(p, item, &of));
    const struct gt_type_member *m = id ? gt_type_members(p->types, id) : NULL;
    for (uint32_t i = 0; m && i < gt_type_get(p->types, id)->n; i++) {
        struct gt_value_item to = {0};
        if (!m[i].name[0] || m[i].bits || m[i].bit % 8 || m[i].bit / 8 > INT32_MAX)
            continue;
        if (set_type(a, p->types, m[i].type, &to) &&
            place_member(&of, m[i].bit / 8, gt_type_size(p->types, m[i].type), &to)) {
            name_member(a, &of, m[i].name, &to);
            insert(spec, at, &to);
        }
    }
}

/* ---- paths --------------------------------------------------------------------------------- */

/* A member's name as a part of a path, and how many members may still be looked at: structs that
 * contain themselves have no end. */
struct wanted {
    const char *name;
    size_t n;
    unsigned left;
};

enum { LOOKS = 10000 };

/* Finds a member, also in members without a name. False: there is no such. */
static bool find_member(const struct gt_types *types, uint32_t id, struct wanted *w, unsigned depth,
                        uint64_t *offset, uint32_t *type)
{
    id = gt_type_resolve(types, id);
    const struct gt_type_member *m = gt_type_members(types, id);
    uint64_t before = *offset;
    for (uint32_t i = 0; m && i < gt_type_get(types, id)->n && w->left; i++, w->left--) {
        *offset = before + m[i].bit / 8;
        *type = m[i].type;
        if (strlen(m[i].name) == w->n && memcmp(m[i].name, w->name, w->n) == 0)
            return !m[i].bits && m[i].bit % 8 == 0;
        if (!m[i].name[0] && depth < GT_TYPE_STEPS &&
            find_member(types, m[i].type, w, depth + 1, offset, type))
            return true;
    }
    return false;
}

/* Follows the path from a struct; false: it has no such members. */
static bool follow_path(const struct gt_types *types, uint32_t id, const char *path,
                        const struct gt_value_item *of, struct gt_value_item *to, uint32_t *type)
{
    uint64_t offset = 0;
    bool first = true;
    for (;;) {
        struct wanted w = {path, strcspn(path, ".-"), LOOKS};
        if (!find_member(types, id, &w, 0, &offset, type) || offset > INT32_MAX)
            return false;
        path += w.n;
        bool arrow = g_str_has_prefix(path, "->");
        if (*path && !arrow) {
            path++;
            id = *type;
            continue;
        }
        if (!(first ? place_member(of, offset, gt_type_size(types, *type), to)
                    : follow(to, offset)))
            return false;
        if (!arrow)
            return true;
        first = false;
        offset = 0;
        path += 2;
        id = gt_type_plain(types, *type)->of;
    }
}

static void add_name(struct gt_arguments *a, const struct gt_types *types, uint32_t id,
                     const struct gt_arguments_object_name *row, struct gt_value_spec *spec,
                     size_t at)
{
    struct gt_value_item to = {0};
    const struct gt_value_item of = spec->item[at];
    uint32_t type;
    if (!follow_path(types, id, row->path, &of, &to, &type))
        return;
    const struct gt_type *t = gt_type_plain(types, type);
    if (t->kind == GT_TYPE_POINTER && gt_type_plain(types, t->of)->size == 1)
        to.format = GT_VALUE_STRING; /* the kernel's names are unsigned char, too */
    else if (!set_type(a, types, type, &to))
        return;
    name_member(a, &of, row->name, &to);
    insert(spec, at, &to);
}

void gt_arguments_add_names(struct gt_arguments *a, const struct gt_type_prototypes *p,
                            const struct gt_type_prototype *item, bool kernel,
                            struct gt_value_spec *spec)
{
    for (size_t at = spec->n_arguments; at-- > 0;) {
        const struct gt_value_item *of = &spec->item[at];
        if (!of->number || of->is_float || of->format != GT_VALUE_POINTER)
            continue;
        uint32_t id = struct_of(p->types, type_of(p, item, of));
        const char *name = id ? gt_type_get(p->types, id)->name : "";
        const struct gt_arguments_object_name *row;
        for (size_t i = 0; *name && (row = gt_arguments_object_name_at(a, kernel, name, i)); i++)
            add_name(a, p->types, id, row, spec, at);
    }
}
