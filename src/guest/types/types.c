/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The graph of types: see types.h. Four arrays that only grow, and chunks of names. */
#include "guest/types/types.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

struct chunk {
    struct chunk *next;
    char data[];
};

struct array {
    void *data;
    size_t n, room;
};

struct gt_types {
    const struct gt_types *base;
    uint32_t start; /* number of the first type of its own */
    int status;
    struct array type, member, value, param;
    struct chunk *chunk;
    size_t used, bytes; /* in the last chunk; in all */
    void **kept;
    size_t n_kept;
};

static const struct gt_type plain_void = {.name = "void", .kind = GT_TYPE_VOID};
static const struct gt_type unknown = {.name = "", .kind = GT_TYPE_UNKNOWN};

struct gt_types *gt_types_new(const struct gt_types *base)
{
    struct gt_types *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->base = base;
    t->start = base ? gt_types_count(base) : 1;
    return t;
}

void gt_types_free(struct gt_types *t)
{
    if (!t)
        return;
    for (struct chunk *c = t->chunk, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    for (size_t i = 0; i < t->n_kept; i++)
        free(t->kept[i]);
    free(t->kept);
    free(t->type.data);
    free(t->member.data);
    free(t->value.data);
    free(t->param.data);
    free(t);
}

int gt_types_status(const struct gt_types *t)
{
    return t->status;
}

void gt_types_fail(struct gt_types *t, int status)
{
    if (t->status == GT_OK)
        t->status = status;
}

uint32_t gt_types_count(const struct gt_types *t)
{
    return t->start + (uint32_t)t->type.n;
}

/* Appends one element; NULL: `status` is set. */
static void *append(struct gt_types *t, struct array *a, size_t size, size_t most)
{
    if (t->status != GT_OK)
        return NULL;
    if (a->n == most) {
        t->status = GT_E_RANGE;
        return NULL;
    }
    if (!gt_base_array_grow((void **)&a->data, &a->room, a->n + 1, size)) {
        t->status = GT_E_NOMEM;
        return NULL;
    }
    return (char *)a->data + size * a->n++;
}

static char *name_room(struct gt_types *t, size_t n)
{
    if (t->chunk && n <= CHUNK - t->used)
        return t->chunk->data + t->used;
    if (t->bytes > GT_TYPE_NAMES_MAX - CHUNK) {
        t->status = GT_E_RANGE;
        return NULL;
    }
    struct chunk *c = malloc(sizeof *c + CHUNK);
    if (!c) {
        t->status = GT_E_NOMEM;
        return NULL;
    }
    c->next = t->chunk;
    t->chunk = c;
    t->used = 0;
    t->bytes += CHUNK;
    return c->data;
}

const char *gt_types_name(struct gt_types *t, const char *text, size_t n)
{
    if (n > GT_TYPE_NAME_MAX)
        n = GT_TYPE_NAME_MAX;
    char *copy = n && t->status == GT_OK ? name_room(t, n + 1) : NULL;
    if (!copy)
        return "";
    for (size_t i = 0; i < n; i++)
        copy[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    copy[n] = '\0';
    t->used += n + 1;
    return copy;
}

void gt_types_keep(struct gt_types *t, void *bytes)
{
    void **kept = reallocarray(t->kept, t->n_kept + 1, sizeof *kept);

    if (!kept) {
        t->status = GT_E_NOMEM;
        free(bytes);
        return;
    }
    t->kept = kept;
    t->kept[t->n_kept++] = bytes;
}

uint32_t gt_types_add(struct gt_types *t, const struct gt_type *type)
{
    size_t most = t->start < GT_TYPES_MAX ? GT_TYPES_MAX - t->start : 0;
    struct gt_type *to = append(t, &t->type, sizeof *to, most);

    if (!to)
        return 0;
    *to = *type;
    to->first = 0;
    if (to->kind != GT_TYPE_ARRAY && to->kind != GT_TYPE_VECTOR)
        to->n = 0;
    if (!to->name)
        to->name = "";
    return gt_types_count(t) - 1;
}

/* A type of this graph itself; NULL: it is of the base, or there is no such. */
static struct gt_type *own(const struct gt_types *t, uint32_t id)
{
    return id >= t->start && id - t->start < t->type.n
               ? (struct gt_type *)t->type.data + (id - t->start)
               : NULL;
}

void gt_types_set(struct gt_types *t, uint32_t id, const struct gt_type *type)
{
    struct gt_type *to = own(t, id);

    if (to) {
        uint32_t first = to->first, n = to->n;
        *to = *type;
        if (to->kind != GT_TYPE_ARRAY && to->kind != GT_TYPE_VECTOR) {
            to->first = first;
            to->n = n;
        }
        if (!to->name)
            to->name = "";
    }
}

static void *add_part(struct gt_types *t, uint32_t id, struct array *a, size_t size)
{
    struct gt_type *type = own(t, id);
    void *part = type ? append(t, a, size, GT_TYPE_PARTS_MAX) : NULL;

    if (part) {
        if (type->n == 0)
            type->first = (uint32_t)(a->n - 1);
        type->n++;
    }
    return part;
}

void gt_types_add_member(struct gt_types *t, uint32_t id, const struct gt_type_member *m)
{
    struct gt_type_member *to = add_part(t, id, &t->member, sizeof *to);

    if (to)
        *to = *m;
}

void gt_types_add_value(struct gt_types *t, uint32_t id, const struct gt_type_value *v)
{
    struct gt_type_value *to = add_part(t, id, &t->value, sizeof *to);

    if (to)
        *to = *v;
}

void gt_types_add_param(struct gt_types *t, uint32_t id, const struct gt_type_param *p)
{
    struct gt_type_param *to = add_part(t, id, &t->param, sizeof *to);

    if (to)
        *to = *p;
}

/* The graph that has the type, *t or one of its bases. */
static const struct gt_type *find(const struct gt_types **t, uint32_t id)
{
    while (*t && id < (*t)->start)
        *t = (*t)->base;
    return *t ? own(*t, id) : NULL;
}

const struct gt_type *gt_type_get(const struct gt_types *t, uint32_t id)
{
    const struct gt_type *type = id ? find(&t, id) : &plain_void;

    return type ? type : &unknown;
}

uint32_t gt_type_resolve(const struct gt_types *t, uint32_t id)
{
    for (int i = 0; i < GT_TYPE_STEPS; i++) {
        const struct gt_type *type = gt_type_get(t, id);
        if (type->kind != GT_TYPE_TYPEDEF)
            return type == &unknown ? GT_TYPE_NONE : id;
        id = type->of;
    }
    return GT_TYPE_NONE;
}

const struct gt_type *gt_type_plain(const struct gt_types *t, uint32_t id)
{
    return gt_type_get(t, gt_type_resolve(t, id));
}

/* The parts of type `id`, of those kinds, in one of the arrays. */
static const void *parts(const struct gt_types *t, uint32_t id, unsigned kinds, size_t array,
                         size_t size)
{
    const struct gt_type *type = find(&t, id);

    if (!type || !type->n || !(kinds >> type->kind & 1))
        return NULL;
    const struct array *a = (const void *)((const char *)t + array);
    return (const char *)a->data + size * type->first;
}

const struct gt_type_member *gt_type_members(const struct gt_types *t, uint32_t id)
{
    return parts(t, id, 1u << GT_TYPE_STRUCT | 1u << GT_TYPE_UNION,
                 offsetof(struct gt_types, member), sizeof(struct gt_type_member));
}

const struct gt_type_value *gt_type_values(const struct gt_types *t, uint32_t id)
{
    return parts(t, id, 1u << GT_TYPE_ENUM, offsetof(struct gt_types, value),
                 sizeof(struct gt_type_value));
}

const struct gt_type_param *gt_type_params(const struct gt_types *t, uint32_t id)
{
    return parts(t, id, 1u << GT_TYPE_FUNCTION, offsetof(struct gt_types, param),
                 sizeof(struct gt_type_param));
}

uint32_t gt_types_find(const struct gt_types *t, enum gt_type_kind kind, const char *name)
{
    uint32_t found = 0;

    for (; t; t = t->base)
        for (size_t i = 0; i < t->type.n; i++) {
            const struct gt_type *type = (const struct gt_type *)t->type.data + i;
            if (type->kind != kind || strcmp(type->name, name) != 0)
                continue;
            if (!type->incomplete)
                return t->start + (uint32_t)i;
            if (!found)
                found = t->start + (uint32_t)i;
        }
    return found;
}
