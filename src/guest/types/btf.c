/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF to a graph of types: see btf.h, and guest/kernel/btf.c for the format. Each type of the BTF
 * is one of the graph, with the same number.
 *
 *   int         u32: encoding in bits 24-27 (1 signed, 4 bool), bits in 0-7
 *   array       u32 element, u32 type of the index, u32 elements
 *   enumerator  u32 name, u32 value; of 64 bits: u32 name, u32 low, u32 high
 *   parameter   u32 name, u32 type; the last one may be 0, 0: variable arguments
 */
#include "guest/types/btf.h"

#include "guest/kernel/btf.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNED = 1, BOOL = 4 };

struct reader {
    const struct gt_kernel_btf *btf;
    const struct gt_kernel_btf *base;   /* NULL: a kernel's own */
    const char *strings, *base_strings; /* printable copies */
    struct gt_type_prototypes *out;
    uint32_t pointer; /* bytes */
    bool signs;       /* enums say whether they are signed: from Linux 6.0 on */
};

static const char *string_at(const struct reader *r, uint32_t offset)
{
    if (r->base) {
        if (offset < r->base->strings_size)
            return r->base_strings + offset;
        offset -= (uint32_t)r->base->strings_size;
    }
    return offset < r->btf->strings_size ? r->strings + offset : "";
}

/* A copy of all strings, without control characters, that lives with the graph. */
static const char *copy_strings(struct gt_types *t, const struct gt_kernel_btf *b)
{
    char *copy = malloc(b->strings_size);

    if (!copy) {
        gt_types_fail(t, GT_E_NOMEM);
        return NULL;
    }
    for (size_t i = 0; i < b->strings_size; i++) {
        unsigned char c = (unsigned char)b->strings[i];
        copy[i] = (c && c < ' ') || c == 0x7f ? '?' : (char)c;
    }
    gt_types_keep(t, copy);
    return gt_types_status(t) == GT_OK ? copy : NULL;
}

static void set_int(struct gt_type *to, uint32_t word)
{
    unsigned encoding = word >> 24 & 0xf;

    to->kind = encoding & BOOL             ? GT_TYPE_BOOL
               : !strcmp(to->name, "char") ? GT_TYPE_CHAR
                                           : GT_TYPE_INT;
    to->is_signed = encoding & SIGNED;
}

/* The type without its parts. */
static struct gt_type shell(const struct reader *r, const struct gt_kernel_btf_type *t)
{
    struct gt_type to = {.name = string_at(r, t->name), .size = t->size};
    unsigned kind = gt_kernel_btf_kind(t);

    switch (kind) {
    case GT_BTF_INT:
        set_int(&to, gt_kernel_btf_u32(t->more));
        break;
    case GT_BTF_FLOAT:
        to.kind = GT_TYPE_FLOAT;
        break;
    case GT_BTF_ENUM:
    case GT_BTF_ENUM64:
        to.kind = GT_TYPE_ENUM;
        to.is_signed = t->info >> 31;
        to.incomplete = (t->info & 0xffff) == 0;
        break;
    case GT_BTF_STRUCT:
    case GT_BTF_UNION:
        to.kind = kind == GT_BTF_STRUCT ? GT_TYPE_STRUCT : GT_TYPE_UNION;
        break;
    case GT_BTF_FORWARD:
        to = (struct gt_type){.name = to.name,
                              .kind = t->info >> 31 ? GT_TYPE_UNION : GT_TYPE_STRUCT,
                              .incomplete = true};
        break;
    case GT_BTF_POINTER:
        to = (struct gt_type){.kind = GT_TYPE_POINTER, .size = r->pointer, .of = t->size};
        break;
    case GT_BTF_ARRAY:
        to = (struct gt_type){.kind = GT_TYPE_ARRAY,
                              .of = gt_kernel_btf_u32(t->more),
                              .n = gt_kernel_btf_u32(t->more + 8)};
        break;
    case GT_BTF_PROTOTYPE:
        to = (struct gt_type){.kind = GT_TYPE_FUNCTION, .of = t->size};
        break;
    case GT_BTF_TYPEDEF:
        to = (struct gt_type){.name = to.name, .kind = GT_TYPE_TYPEDEF, .of = t->size};
        break;
    case GT_BTF_VOLATILE:
    case GT_BTF_CONST:
    case GT_BTF_RESTRICT:
    case GT_BTF_TYPE_TAG:
        to = (struct gt_type){.kind = GT_TYPE_TYPEDEF, .of = t->size};
        break;
    default:
        to = (struct gt_type){.kind = GT_TYPE_UNKNOWN};
    }
    return to;
}

static void add_members(const struct reader *r, uint32_t id, const struct gt_kernel_btf_type *t)
{
    for (uint32_t i = 0; i < (t->info & 0xffff); i++) {
        const uint8_t *at = t->more + (size_t)12 * i;
        uint32_t where = gt_kernel_btf_u32(at + 8);
        struct gt_type_member m = {.name = string_at(r, gt_kernel_btf_u32(at)),
                                   .type = gt_kernel_btf_u32(at + 4),
                                   .bit = t->info >> 31 ? where & 0xffffff : where,
                                   .bits = (uint16_t)(t->info >> 31 ? where >> 24 : 0)};
        gt_types_add_member(r->out->types, id, &m);
    }
}

/* Enums of 64 bits came with the flag. */
static bool has_signs(const struct gt_kernel_btf *b)
{
    struct gt_kernel_btf_type t;

    for (uint32_t i = 1; i <= b->n; i++)
        if (gt_kernel_btf_get(b, i, &t) &&
            (gt_kernel_btf_kind(&t) == GT_BTF_ENUM64 ||
             (gt_kernel_btf_kind(&t) == GT_BTF_ENUM && t.info >> 31)))
            return true;
    return false;
}

static void add_values(const struct reader *r, uint32_t id, const struct gt_kernel_btf_type *t)
{
    bool wide = gt_kernel_btf_kind(t) == GT_BTF_ENUM64;
    struct gt_type type = *gt_type_get(r->out->types, id);

    for (uint32_t i = 0; i < (t->info & 0xffff); i++) {
        const uint8_t *at = t->more + (size_t)(wide ? 12 : 8) * i;
        uint32_t low = gt_kernel_btf_u32(at + 4);
        struct gt_type_value v = {string_at(r, gt_kernel_btf_u32(at)), low};
        if (wide)
            v.value |= (uint64_t)gt_kernel_btf_u32(at + 8) << 32;
        else if (type.is_signed || (!r->signs && (int32_t)low < 0))
            v.value = (uint64_t)(int64_t)(int32_t)low;
        type.is_signed = type.is_signed || (!wide && !r->signs && (int32_t)low < 0);
        gt_types_add_value(r->out->types, id, &v);
    }
    gt_types_set(r->out->types, id, &type);
    gt_type_find_flags(r->out->types, id);
}

static void add_params(const struct reader *r, uint32_t id, const struct gt_kernel_btf_type *t)
{
    uint32_t n = t->info & 0xffff;
    struct gt_type type = *gt_type_get(r->out->types, id);

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *at = t->more + (size_t)8 * i;
        struct gt_type_param p = {string_at(r, gt_kernel_btf_u32(at)), gt_kernel_btf_u32(at + 4)};
        if (i == n - 1 && p.type == 0)
            type.variadic = true;
        else
            gt_types_add_param(r->out->types, id, &p);
    }
    gt_types_set(r->out->types, id, &type);
}

static uint32_t add_type(const struct reader *r, const struct gt_kernel_btf_type *t)
{
    struct gt_type type = shell(r, t);
    uint32_t id = gt_types_add(r->out->types, &type);

    switch (gt_kernel_btf_kind(t)) {
    case GT_BTF_STRUCT:
    case GT_BTF_UNION:
        add_members(r, id, t);
        break;
    case GT_BTF_ENUM:
    case GT_BTF_ENUM64:
        add_values(r, id, t);
        break;
    case GT_BTF_PROTOTYPE:
        add_params(r, id, t);
        break;
    }
    return id;
}

/* Adds a function; false: what it refers to is not a prototype. */
static bool add_function(const struct reader *r, const struct gt_kernel_btf_type *t)
{
    struct gt_type_prototype item = {.name = string_at(r, t->name), .type = t->size};

    if (gt_type_get(r->out->types, item.type)->kind != GT_TYPE_FUNCTION)
        return false;
    if (item.name[0])
        gt_type_prototypes_add(r->out, &item, NULL, 0);
    return true;
}

/* Returns the number of functions that refer to no prototype. */
static size_t add_all(struct reader *r)
{
    struct gt_kernel_btf_type t;
    size_t bad = 0;

    r->signs = has_signs(r->base ? r->base : r->btf);
    for (uint32_t i = 1; i <= r->btf->n && gt_types_status(r->out->types) == GT_OK; i++)
        if (gt_kernel_btf_get(r->btf, i, &t))
            add_type(r, &t);
    for (uint32_t i = 1; i <= r->btf->n && gt_types_status(r->out->types) == GT_OK; i++)
        if (gt_kernel_btf_get(r->btf, i, &t) && gt_kernel_btf_kind(&t) == GT_BTF_FUNCTION)
            bad += !add_function(r, &t);
    return bad;
}

static int finish(struct reader *r, const char *path, struct gt_type_prototypes **out,
                  struct gt_error *err)
{
    int status = gt_type_prototypes_finish(r->out);

    if (status == GT_OK) {
        *out = r->out;
        return GT_OK;
    }
    gt_type_prototypes_free(r->out);
    return gt_error_set(err, status, "%s: BTF: %s", path, gt_error_status_text(status));
}

int gt_type_btf_prototypes(const struct gt_kernel *k, struct gt_type_prototypes **out,
                           struct gt_error *err)
{
    struct reader r = {.btf = gt_kernel_btf(k), .pointer = k->bits == 32 ? 4 : 8};

    *out = NULL;
    if (!r.btf->types)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no BTF in the kernel", k->path);
    r.out = gt_type_prototypes_new(NULL);
    if (!r.out)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", k->path);
    r.strings = copy_strings(r.out->types, r.btf);
    if (r.strings)
        add_all(&r);
    return finish(&r, k->path, out, err);
}

int gt_type_btf_module_prototypes(const struct gt_kernel_ko *m, const struct gt_kernel *k,
                                  const struct gt_type_prototypes *kernel,
                                  struct gt_type_prototypes **out, struct gt_error *err)
{
    struct gt_kernel_btf btf;
    struct reader r = {.btf = &btf, .base = gt_kernel_btf(k), .pointer = m->bits == 32 ? 4 : 8};
    int status = gt_kernel_module_btf(m, &btf);
    size_t bad = 0;

    *out = NULL;
    if (status != GT_OK || !btf.types) {
        free(btf.index);
        return gt_error_set(err, status != GT_OK ? status : GT_E_NOT_FOUND, "%s: %s", m->path,
                            status != GT_OK ? gt_error_status_text(status)
                                            : "no BTF in the module");
    }
    r.out = gt_type_prototypes_new(kernel->types);
    if (r.out) {
        r.base_strings = copy_strings(r.out->types, r.base);
        r.strings = r.base_strings ? copy_strings(r.out->types, &btf) : NULL;
        bad = r.strings ? add_all(&r) : 0;
        status = bad ? GT_E_FORMAT : finish(&r, m->path, out, err);
    }
    free(btf.index);
    if (!r.out)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", m->path);
    if (!bad)
        return status;
    gt_type_prototypes_free(r.out);
    return gt_error_set(err, GT_E_FORMAT,
                        "%s: %zu functions in its BTF refer to no prototype: it is not a module of "
                        "the kernel %s",
                        m->path, bad, k->path);
}
