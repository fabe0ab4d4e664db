/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF (BPF type format), with which a kernel describes its types: finds the offsets of members.
 *
 *   header   u16 0xeb9f, u8 version 1, u8 flags, u32 header size, then u32 each: offset and size of
 *            the types, offset and size of the strings, from the end of the header
 *   type     u32 name (offset in the strings), u32 info (kind in bits 24-28, count in bits 0-15,
 *            bit 31: members have bit sizes), u32 size or type; then what its kind asks for
 *   member   u32 name, u32 type, u32 offset in bits (with bit 31 above: low 24 bits; the high 8
 *            have the size in bits, 0: no bit field)
 *
 * Types are numbered from 1 in their order. They are indexed when the kernel is loaded; a type of
 * unknown kind ends the index, since its length is unknown.
 */
#include "base/array.h"
#include "base/bytes.h"
#include "guest/kernel/private.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 24, TYPE_SIZE = 12, MEMBER_SIZE = 12, DEPTH = 16 };
enum { BUDGET = 1 << 20 }; /* members looked at for one question */

uint32_t gt_kernel_btf_u32(const uint8_t *at)
{
    struct gt_bytes_reader r;

    gt_bytes_reader_init(&r, at, 4);
    return gt_bytes_read_u32(&r);
}

unsigned gt_kernel_btf_kind(const struct gt_kernel_btf_type *t)
{
    return t->info >> 24 & 0x1f;
}

/* Bytes after a type of that info; -1: unknown kind. */
static int64_t more_size(uint32_t info)
{
    int64_t count = info & 0xffff;

    switch (info >> 24 & 0x1f) {
    case GT_BTF_INT:
    case GT_BTF_VAR:
    case GT_BTF_DECL_TAG:
        return 4;
    case GT_BTF_ARRAY:
        return 12;
    case GT_BTF_STRUCT:
    case GT_BTF_UNION:
    case GT_BTF_DATASEC:
    case GT_BTF_ENUM64:
        return 12 * count;
    case GT_BTF_ENUM:
    case GT_BTF_PROTOTYPE:
        return 8 * count;
    case GT_BTF_POINTER:
    case GT_BTF_FORWARD:
    case GT_BTF_FUNCTION:
    case GT_BTF_FLOAT:
    case GT_BTF_TYPEDEF:
    case GT_BTF_VOLATILE:
    case GT_BTF_CONST:
    case GT_BTF_RESTRICT:
    case GT_BTF_TYPE_TAG:
        return 0;
    default:
        return -1;
    }
}

/* Type `id`, whose whole length gt_kernel_btf_open saw; false: no such type. */
bool gt_kernel_btf_get(const struct gt_kernel_btf *b, uint32_t id, struct gt_kernel_btf_type *t)
{
    const uint8_t *at;

    if (id == 0 || id > b->n)
        return false;
    at = b->types + b->index[id - 1];
    *t = (struct gt_kernel_btf_type){gt_kernel_btf_u32(at), gt_kernel_btf_u32(at + 4),
                                     gt_kernel_btf_u32(at + 8), at + TYPE_SIZE};
    return true;
}

/* A text of the strings; "" where the offset lies. */
static const char *string_at(const struct gt_kernel_btf *b, uint32_t offset)
{
    return offset < b->strings_size ? b->strings + offset : "";
}

int gt_kernel_btf_index(struct gt_kernel_btf *b)
{
    size_t cap = 0, at = 0;

    while (b->types_size - at >= TYPE_SIZE) {
        int64_t more = more_size(gt_kernel_btf_u32(b->types + at + 4));
        if (more < 0 || (uint64_t)more > b->types_size - at - TYPE_SIZE)
            break;
        if (!GT_ARRAY_GROW(&b->index, &cap, b->n + 1))
            return GT_E_NOMEM;
        b->index[b->n++] = (uint32_t)at;
        at += TYPE_SIZE + (size_t)more;
    }
    return GT_OK;
}

bool gt_kernel_btf_header(struct gt_kernel_btf *b, const uint8_t *data, size_t size)
{
    uint32_t header, types, strings;

    if (size < HEADER_SIZE || gt_kernel_btf_u32(data) != 0x0001eb9f) /* flags 0 */
        return false;
    header = gt_kernel_btf_u32(data + 4);
    types = gt_kernel_btf_u32(data + 8);
    b->types_size = gt_kernel_btf_u32(data + 12);
    strings = gt_kernel_btf_u32(data + 16);
    b->strings_size = gt_kernel_btf_u32(data + 20);
    if (header < HEADER_SIZE || header > size || types > size - header ||
        b->types_size > size - header - types || strings > size - header ||
        b->strings_size > size - header - strings || b->strings_size == 0)
        return false;
    b->types = data + header + types;
    b->strings = (const char *)data + header + strings;
    return b->strings[b->strings_size - 1] == '\0';
}

/* A kernel's own: its strings begin with the empty one, which modules share. */
static bool kernel_header(struct gt_kernel_btf *b, const uint8_t *data, size_t size)
{
    return gt_kernel_btf_header(b, data, size) && b->strings[0] == '\0';
}

/* The largest BTF in the segments: a program for BPF inside the kernel may have its own. */
static void find(const struct gt_kernel *k, struct gt_kernel_btf *best)
{
    static const uint8_t magic[] = {0x9f, 0xeb, 1, 0, HEADER_SIZE, 0, 0, 0};

    for (size_t i = 0; i < k->priv->n_segment; i++) {
        const uint8_t *at = k->priv->segment[i].data, *end = at + k->priv->segment[i].size;
        for (; (at = memmem(at, (size_t)(end - at), magic, sizeof magic)); at++) {
            struct gt_kernel_btf b = {0};
            if (kernel_header(&b, at, (size_t)(end - at)) && b.types_size > best->types_size)
                *best = b;
        }
    }
}

int gt_kernel_btf_open(const struct gt_kernel *k, struct gt_kernel_btf *b)
{
    uint64_t from, to;
    const uint8_t *data = NULL;

    *b = (struct gt_kernel_btf){0};
    if (gt_kernel_address(k, "__start_BTF", &from) && gt_kernel_address(k, "__stop_BTF", &to) &&
        to > from)
        data = gt_kernel_bytes(k, from, (size_t)(to - from));
    if (!data || !kernel_header(b, data, (size_t)(to - from))) {
        *b = (struct gt_kernel_btf){0};
        find(k, b);
    }
    return b->types ? gt_kernel_btf_index(b) : GT_OK;
}

/* The struct or union of that name; the first that has members. */
static bool find_struct(const struct gt_kernel_btf *b, const char *name,
                        struct gt_kernel_btf_type *t)
{
    for (uint32_t id = 1; id <= b->n; id++)
        if (gt_kernel_btf_get(b, id, t) &&
            (gt_kernel_btf_kind(t) == GT_BTF_STRUCT || gt_kernel_btf_kind(t) == GT_BTF_UNION) &&
            (t->info & 0xffff) && !strcmp(string_at(b, t->name), name))
            return true;
    return false;
}

/* Through typedefs and qualifiers to a struct or union. */
static bool resolve(const struct gt_kernel_btf *b, uint32_t id, struct gt_kernel_btf_type *t)
{
    for (int depth = 0; depth < DEPTH && gt_kernel_btf_get(b, id, t); depth++) {
        switch (gt_kernel_btf_kind(t)) {
        case GT_BTF_STRUCT:
        case GT_BTF_UNION:
            return true;
        case GT_BTF_TYPEDEF:
        case GT_BTF_VOLATILE:
        case GT_BTF_CONST:
        case GT_BTF_RESTRICT:
        case GT_BTF_TYPE_TAG:
            id = t->size;
            break;
        default:
            return false;
        }
    }
    return false;
}

struct question {
    const struct gt_kernel_btf *btf;
    int budget;
};

/* Adds to *bits where `path` is in t. */
static int find_member(struct question *q, const struct gt_kernel_btf_type *t, const char *path,
                       int depth, uint64_t *bits)
{
    size_t length = strcspn(path, ".");

    for (uint32_t i = 0; depth < DEPTH && i < (t->info & 0xffff); i++) {
        const uint8_t *at = t->more + (size_t)i * MEMBER_SIZE;
        const char *name = string_at(q->btf, gt_kernel_btf_u32(at));
        uint32_t where = gt_kernel_btf_u32(at + 8), field = t->info >> 31 ? where >> 24 : 0;
        struct gt_kernel_btf_type inner;
        int status;
        if (q->budget-- <= 0)
            return GT_E_FORMAT;
        if (t->info >> 31)
            where &= 0xffffff;
        if (!strncmp(name, path, length) && !name[length] && length) {
            *bits += where;
            if (!path[length])
                return field || where % 8 ? GT_E_UNSUPPORTED : GT_OK;
            if (!resolve(q->btf, gt_kernel_btf_u32(at + 4), &inner))
                return GT_E_NOT_FOUND;
            return find_member(q, &inner, path + length + 1, depth + 1, bits);
        }
        if (name[0] || !resolve(q->btf, gt_kernel_btf_u32(at + 4), &inner))
            continue;
        *bits += where;
        status = find_member(q, &inner, path, depth + 1, bits);
        if (status != GT_E_NOT_FOUND)
            return status;
        *bits -= where;
    }
    return GT_E_NOT_FOUND;
}

const struct gt_kernel_btf *gt_kernel_btf(const struct gt_kernel *k)
{
    return &k->priv->btf;
}

int gt_kernel_member(const struct gt_kernel *k, const char *type, const char *member,
                     uint32_t *byte_offset)
{
    struct question q = {&k->priv->btf, BUDGET};
    struct gt_kernel_btf_type t;
    uint64_t bits = 0;
    int status;

    if (!q.btf->types)
        return GT_E_UNSUPPORTED;
    if (!find_struct(q.btf, type, &t))
        return GT_E_NOT_FOUND;
    status = find_member(&q, &t, member, 0, &bits);
    if (status == GT_OK && bits / 8 > UINT32_MAX)
        return GT_E_FORMAT;
    if (status == GT_OK)
        *byte_offset = (uint32_t)(bits / 8);
    return status;
}

int gt_kernel_sizeof(const struct gt_kernel *k, const char *type, uint32_t *bytes)
{
    struct gt_kernel_btf_type t;

    if (!k->priv->btf.types)
        return GT_E_UNSUPPORTED;
    if (!find_struct(&k->priv->btf, type, &t))
        return GT_E_NOT_FOUND;
    *bytes = t.size;
    return GT_OK;
}
