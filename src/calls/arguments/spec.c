/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specs of values from prototypes: see spec.h. */
#include "calls/arguments/spec_private.h"
#include "guest/abi/call.h"

#include <string.h>

struct gt_arguments *gt_arguments_new(void)
{
    struct gt_arguments *a = g_new0(struct gt_arguments, 1);

    a->enums = g_array_new(FALSE, FALSE, sizeof(struct gt_value_enum));
    a->enum_ids = g_hash_table_new(g_str_hash, g_str_equal);
    a->owned = g_ptr_array_new_with_free_func(g_free);
    a->names = g_array_new(FALSE, FALSE, sizeof(struct gt_arguments_object_name));
    return a;
}

void gt_arguments_free(struct gt_arguments *a)
{
    if (!a)
        return;
    g_array_free(a->enums, TRUE);
    g_array_free(a->names, TRUE);
    g_hash_table_destroy(a->enum_ids);
    g_ptr_array_unref(a->owned);
    g_free(a);
}

const struct gt_value_enum *gt_arguments_enums(const struct gt_arguments *a, size_t *n)
{
    *n = a->enums->len;
    return (const struct gt_value_enum *)(const void *)a->enums->data;
}

static bool same_values(const struct gt_value_enum *e, const struct gt_type_value *v, size_t n)
{
    for (size_t i = 0; i < n && e->n == n; i++)
        if (strcmp(e->value[i].name, v[i].name) || (uint64_t)e->value[i].value != v[i].value)
            return false;
    return e->n == n;
}

/* The name under which the enum's values are kept; NULL: another one has it, or it has none. */
static const char *keep_enum(struct gt_arguments *a, const struct gt_types *types, uint32_t id,
                             const char *name)
{
    const struct gt_type *t = gt_type_get(types, id);
    const struct gt_type_value *v = gt_type_values(types, id);
    struct gt_value_enum e = {.name = name, .flags = t->is_flags, .n = t->n};

    if (!v || !name[0])
        return NULL;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(a->enum_ids, name));
    if (known) {
        const struct gt_value_enum *other =
            &g_array_index(a->enums, struct gt_value_enum, known - 1);
        return same_values(other, v, t->n) ? other->name : NULL;
    }
    e.value = g_new(struct gt_value_enumerator, t->n);
    g_ptr_array_add(a->owned, e.value);
    for (uint32_t i = 0; i < t->n; i++)
        e.value[i] = (struct gt_value_enumerator){v[i].name, (int64_t)v[i].value};
    g_array_append_val(a->enums, e);
    g_hash_table_insert(a->enum_ids, (gpointer)name, GUINT_TO_POINTER(a->enums->len));
    return name;
}

/* The type's own name, or that of the typedef nearest to it. */
static const char *name_of(const struct gt_types *types, uint32_t id)
{
    const char *name = "";

    for (int i = 0; i < GT_TYPE_STEPS; i++) {
        const struct gt_type *t = gt_type_get(types, id);
        if (t->name[0])
            name = t->name;
        if (t->kind != GT_TYPE_TYPEDEF)
            break;
        id = t->of;
    }
    return name;
}

/* As uftrace shows such values. */
void gt_arguments_set_format(struct gt_arguments *a, const struct gt_types *types, uint32_t type,
                             struct gt_value_item *item)
{
    uint32_t id = gt_type_resolve(types, type);
    const struct gt_type *t = gt_type_get(types, id);

    switch (t->kind) {
    case GT_TYPE_INT:
        item->format = t->is_signed ? GT_VALUE_SIGNED : GT_VALUE_UNSIGNED;
        break;
    case GT_TYPE_BOOL:
        item->format = GT_VALUE_BOOL;
        break;
    case GT_TYPE_CHAR:
        item->format = GT_VALUE_CHAR;
        break;
    case GT_TYPE_ENUM:
        item->type = keep_enum(a, types, id, name_of(types, type));
        item->format = item->type     ? GT_VALUE_ENUM
                       : t->is_signed ? GT_VALUE_SIGNED
                                      : GT_VALUE_UNSIGNED;
        break;
    case GT_TYPE_POINTER:
        item->format =
            gt_type_plain(types, t->of)->kind == GT_TYPE_CHAR ? GT_VALUE_STRING : GT_VALUE_POINTER;
        break;
    case GT_TYPE_FLOAT:
        item->format = GT_VALUE_FLOAT;
        item->is_float = true;
        break;
    default:
        item->format = GT_VALUE_STRUCT;
    }
}

/* The pieces of a value; false: it cannot be put together of them. */
static bool set_source(const struct gt_abi_value *v, struct gt_value_item *item)
{
    uint32_t size = v->extended || v->by_reference ? 0 : v->size, at = 0;

    if (v->unknown || v->at_entry || !v->n)
        return false;
    for (unsigned i = 0; i < v->n; i++) {
        const struct gt_abi_piece *p = &v->piece[i];
        struct gt_value_piece *to = &item->piece[item->n_pieces++];
        uint32_t end = i + 1 < v->n ? v->piece[i + 1].in_value : p->in_value + p->size;
        if (p->in_value != at || end - p->in_value > (p->reg ? 16 : UINT16_MAX))
            return false;
        at = end;
        *to = (struct gt_value_piece){.reg = p->reg,
                                      .offset = p->reg ? (int32_t)p->in_reg : p->stack,
                                      .size = (uint16_t)(end - p->in_value)};
        if (v->by_reference) {
            to->n_steps = 1;
            at = v->size;
        }
    }
    item->size = (uint16_t)MIN(size && size < at ? size : at, GT_VALUE_SIZE_MOST);
    return true;
}

/* Brings the pieces to the size of the item. */
static void fit_pieces(struct gt_value_item *item)
{
    unsigned left = item->size, n = 0;

    if (item->piece[0].n_steps) /* what stands at an address is whole */
        item->piece[0].size = item->size;
    for (; n < item->n_pieces && left; n++) {
        item->piece[n].size = (uint16_t)MIN(item->piece[n].size, left);
        left -= item->piece[n].size;
    }
    item->n_pieces = (uint8_t)n;
    if (n == 1)
        item->piece[0].size = 0; /* the value's own */
}

struct bits {
    uint8_t *mask;
    unsigned size; /* bytes; those after them are not recorded */
    bool any;
};

static bool add_bits(void *self, const struct gt_abi_leaf *leaf)
{
    struct bits *b = self;
    const struct gt_type *t = leaf->type;
    uint64_t n = leaf->bits ? leaf->bits : t->extended ? 80 : 8 * (uint64_t)t->size;

    if (!n)
        return false; /* its size is not known */
    for (uint64_t i = leaf->bit; i < leaf->bit + n && i / 8 < b->size; i++)
        b->mask[i / 8] |= (uint8_t)(1u << (i % 8));
    b->any = true;
    return true;
}

/* False: the struct has no members, so that nothing of it is passed. */
static bool set_mask(struct gt_arguments *a, const struct gt_abi *abi, const struct gt_types *types,
                     uint32_t type, struct gt_value_item *item)
{
    const struct gt_abi_call call = {.abi = abi, .types = types};
    struct bits b = {.mask = g_malloc0(item->size), .size = item->size};
    bool known = gt_abi_leaves(&call, type, add_bits, &b), gaps = false;

    for (unsigned i = 0; i < item->size; i++)
        gaps = gaps || b.mask[i] != UINT8_MAX;
    if (known && gaps && b.any) {
        item->mask = b.mask;
        g_ptr_array_add(a->owned, b.mask);
    } else {
        g_free(b.mask);
    }
    return !known || b.any;
}

/* False: the value is left out. */
static bool make_item(struct gt_arguments *a, const struct gt_abi *abi,
                      const struct gt_types *types, uint32_t type, const struct gt_abi_value *v,
                      struct gt_value_item *item)
{
    if (!set_source(v, item))
        return false;
    gt_arguments_set_format(a, types, type, item);
    if (item->format == GT_VALUE_FLOAT && gt_type_plain(types, type)->extended)
        item->size = 10;
    if (!gt_value_size_fits(item->format, item->size) && !gt_value_is_text(item->format))
        item->format = GT_VALUE_STRUCT;
    fit_pieces(item);
    if (item->format == GT_VALUE_STRUCT) {
        item->type = name_of(types, type);
        if (!item->type[0])
            item->type = "struct";
        return gt_type_plain(types, type)->kind == GT_TYPE_COMPLEX ||
               set_mask(a, abi, types, type, item);
    }
    if (gt_value_is_text(item->format))
        item->size = 0;
    return true;
}

struct gt_value_item *gt_arguments_items(struct gt_arguments *a)
{
    struct gt_value_item *item = a->spare;

    a->spare = NULL;
    if (!item) {
        item = g_new0(struct gt_value_item, GT_VALUES_MOST + 1);
        g_ptr_array_add(a->owned, item);
    }
    return item;
}

void gt_arguments_keep(struct gt_arguments *a, struct gt_value_spec *spec)
{
    a->spare = spec->item;
    spec->item = g_memdup2(spec->item, (spec->n_arguments + spec->n_returns) * sizeof *spec->item);
    if (spec->item)
        g_ptr_array_add(a->owned, spec->item);
}

void gt_arguments_by_prototype(struct gt_arguments *a, const struct gt_abi *abi,
                               const struct gt_type_prototypes *p,
                               const struct gt_type_prototype *item, struct gt_value_spec *out)
{
    const struct gt_type *t = gt_type_get(p->types, item->type);
    const struct gt_type_param *q = gt_type_params(p->types, item->type);
    g_autofree struct gt_abi_value *value = g_new0(struct gt_abi_value, t->n + 1);
    unsigned integers = 0, floats = 0;

    *out = (struct gt_value_spec){.item = gt_arguments_items(a)};
    gt_abi_place_prototype(abi, p, item, &value[t->n], value);
    for (uint32_t i = 0; q && i < t->n && out->n_arguments < GT_VALUES_MOST; i++) {
        struct gt_value_item *to = &out->item[out->n_arguments];
        bool is_float = gt_type_plain(p->types, q[i].type)->kind == GT_TYPE_FLOAT;
        unsigned number = is_float ? ++floats : ++integers;
        *to = (struct gt_value_item){.number = (uint16_t)number,
                                     .name = q[i].name[0] ? q[i].name : NULL};
        out->n_arguments += make_item(a, abi, p->types, q[i].type, &value[i], to);
    }
    struct gt_value_item *result = &out->item[out->n_arguments];
    *result = (struct gt_value_item){.is_return = true};
    if (gt_type_plain(p->types, t->of)->kind != GT_TYPE_VOID)
        out->n_returns = make_item(a, abi, p->types, t->of, &value[t->n], result);
    result->is_float = false;
}

void gt_arguments_words(struct gt_arguments *a, const struct gt_abi *abi, unsigned n,
                        struct gt_value_spec *out)
{
    struct gt_abi_value value;

    *out = (struct gt_value_spec){.item = gt_arguments_items(a)};
    for (unsigned i = 0; i < n && i < GT_VALUES_MOST; i++) {
        struct gt_value_item *to = &out->item[out->n_arguments];
        gt_abi_argument(abi, i + 1, false, &value);
        *to = (struct gt_value_item){
            .format = GT_VALUE_HEX, .number = (uint16_t)(i + 1), .unsure = true};
        if (!set_source(&value, to))
            continue;
        fit_pieces(to);
        out->n_arguments++;
    }
    out->item[out->n_arguments] = (struct gt_value_item){.format = GT_VALUE_HEX,
                                                         .size = abi->slot,
                                                         .is_return = true,
                                                         .unsure = true,
                                                         .n_pieces = 1,
                                                         .piece = {{.reg = abi->result}}};
    out->n_returns = 1;
}
