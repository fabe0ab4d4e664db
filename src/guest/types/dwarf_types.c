/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of DWARF. Each entry that is met gets a number at once and waits in a queue until it is
 * read, so that cycles and depth cost nothing. A type's level is the number of pointers on the
 * shortest way to it from a function; structs are read at levels 0 and 1.
 */
#include "base/array.h"
#include "guest/elf/die.h"
#include "guest/types/dwarf_private.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL_MOST = 1, DIMENSIONS = 8, ALIGN_MOST = 4096 };

struct gt_type_dwarf_type {
    Dwarf_Die die; /* die.addr NULL: a free place of the map */
    uint32_t id;
    uint8_t level;
    bool cxx, whole; /* whole: its members have been read */
    uint8_t word;
};

static size_t slot_of(const struct gt_type_dwarf *d, const void *addr)
{
    size_t i = (size_t)((uintptr_t)addr * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (d->map_room - 1);

    while (d->map[i].die.addr && d->map[i].die.addr != addr)
        i = (i + 1) & (d->map_room - 1);
    return i;
}

static bool grow_map(struct gt_type_dwarf *d)
{
    struct gt_type_dwarf old = *d;

    d->map_room = d->map_room ? 2 * d->map_room : 1024;
    d->map = calloc(d->map_room, sizeof *d->map);
    if (!d->map) {
        *d = old;
        return false;
    }
    for (size_t i = 0; i < old.map_room; i++)
        if (old.map[i].die.addr)
            d->map[slot_of(d, old.map[i].die.addr)] = old.map[i];
    free(old.map);
    return true;
}

static bool push(struct gt_type_dwarf *d, const void *addr)
{
    if (!GT_ARRAY_GROW(&d->queue, &d->queue_room, d->n_queue + 1))
        return false;
    d->queue[d->n_queue++] = addr;
    return true;
}

/* A type may stand in a unit of its own (-fdebug-types-section): the entry has its signature. */
static bool find_signed(Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Attribute attr;
    return dwarf_attr(die, DW_AT_signature, &attr) && dwarf_formref_die(&attr, out);
}

/* The number of an entry, which waits to be read if it was not yet. */
static uint32_t number_of(struct gt_type_dwarf *d, Dwarf_Die *die, uint8_t level)
{
    const struct gt_type unknown = {.kind = GT_TYPE_UNKNOWN};
    struct gt_type_dwarf_type *t;
    Dwarf_Die other;

    if (find_signed(die, &other))
        die = &other;
    if ((d->n_map + 1) * 2 > d->map_room && !grow_map(d)) {
        gt_types_fail(d->out->types, GT_E_NOMEM);
        return GT_TYPE_NONE;
    }
    t = &d->map[slot_of(d, die->addr)];
    if (t->die.addr && (t->whole || t->level <= level))
        return t->id;
    if (!t->die.addr) {
        *t = (struct gt_type_dwarf_type){.die = *die, .id = gt_types_add(d->out->types, &unknown)};
        d->n_map++;
    }
    t->level = level;
    t->cxx = d->cxx;
    t->word = d->word;
    if (!push(d, die->addr))
        gt_types_fail(d->out->types, GT_E_NOMEM);
    return t->id;
}

static uint32_t type_at(struct gt_type_dwarf *d, Dwarf_Die *die, uint8_t level)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;

    if (!dwarf_attr_integrate(die, DW_AT_type, &attr))
        return 0;
    return dwarf_formref_die(&attr, &type) ? number_of(d, &type, level) : GT_TYPE_NONE;
}

uint32_t gt_type_dwarf_type(struct gt_type_dwarf *d, Dwarf_Die *die)
{
    return type_at(d, die, 0);
}

static const char *name_of(struct gt_type_dwarf *d, Dwarf_Die *die)
{
    const char *name = gt_elf_die_string(die, DW_AT_name);

    return name ? gt_types_name(d->out->types, name, strlen(name)) : "";
}

static uint32_t size_of(Dwarf_Die *die)
{
    uint64_t size = 0;

    gt_elf_die_number(die, DW_AT_byte_size, &size);
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

static uint16_t align_of(Dwarf_Die *die)
{
    uint64_t align = 0;

    gt_elf_die_number(die, DW_AT_alignment, &align);
    return align <= ALIGN_MOST && (align & (align - 1)) == 0 ? (uint16_t)align : 0;
}

/* GCC says when another option than its own sets what a long double is; Clang does not. */
static bool is_extended(const struct gt_type_dwarf *d, const struct gt_type *t)
{
    return (d->e_machine == EM_X86_64 || d->e_machine == EM_386) && !d->quad && t->size > 8 &&
           strstr(t->name, "long double");
}

static void set_base(const struct gt_type_dwarf *d, struct gt_type *to, Dwarf_Die *die)
{
    uint64_t encoding = 0;

    gt_elf_die_number(die, DW_AT_encoding, &encoding);
    to->kind = GT_TYPE_INT;
    switch (encoding) {
    case DW_ATE_boolean:
        to->kind = GT_TYPE_BOOL;
        break;
    case DW_ATE_float:
        to->kind = GT_TYPE_FLOAT;
        to->extended = is_extended(d, to);
        break;
    case DW_ATE_complex_float:
        to->kind = GT_TYPE_COMPLEX;
        break;
    case DW_ATE_signed:
        to->is_signed = true;
        break;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        to->is_signed = encoding == DW_ATE_signed_char;
        if (!strcmp(to->name, "char"))
            to->kind = GT_TYPE_CHAR;
        break;
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
    case DW_ATE_address:
        break;
    default:
        to->kind = GT_TYPE_UNKNOWN;
    }
}

/* The offset of a member in bits; false: it depends on the object. */
static bool bit_of(Dwarf_Die *die, struct gt_type_member *m)
{
    uint64_t at = 0, bits = 0, high, storage = 0;

    if (dwarf_hasattr(die, DW_AT_data_member_location) &&
        !gt_elf_die_number(die, DW_AT_data_member_location, &at))
        return false;
    gt_elf_die_number(die, DW_AT_bit_size, &bits);
    m->bits = (uint16_t)(bits <= 128 ? bits : 0);
    if (at > UINT32_MAX)
        return false;
    m->bit = 8 * at;
    if (gt_elf_die_number(die, DW_AT_data_bit_offset, &at))
        m->bit = at;
    else if (bits && gt_elf_die_number(die, DW_AT_bit_offset, &high) && /* from the highest bit */
             gt_elf_die_number(die, DW_AT_byte_size, &storage) && storage <= 16)
        m->bit += 8 * storage - high - bits;
    return m->bit < UINT64_C(8) << 32;
}

static void add_member(struct gt_type_dwarf *d, uint32_t id, Dwarf_Die *die, uint8_t level)
{
    struct gt_type_member m = {.name = name_of(d, die), .align = align_of(die)};
    uint64_t virtuality = 0;

    if (gt_elf_die_flag(die, DW_AT_external) || gt_elf_die_flag(die, DW_AT_declaration))
        return; /* a static member */
    m.base = dwarf_tag(die) == DW_TAG_inheritance;
    gt_elf_die_number(die, DW_AT_virtuality, &virtuality);
    m.is_virtual = (m.base && virtuality) || !bit_of(die, &m);
    m.type = type_at(d, die, level);
    gt_types_add_member(d->out->types, id, &m);
}

/* C++ classes with a destructor or a copy constructor of their own, where the compiler did not say
 * how it passes them. */
static bool is_nontrivial(Dwarf_Die *child)
{
    const char *name =
        dwarf_tag(child) == DW_TAG_subprogram ? gt_elf_die_string(child, DW_AT_name) : NULL;

    return name && (name[0] == '~' || dwarf_hasattr(child, DW_AT_vtable_elem_location)) &&
           !dwarf_hasattr(child, DW_AT_defaulted);
}

/* Of the entry alone: a definition refers to the declaration of what its class or namespace has. */
static bool is_declaration(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    bool flag = false;

    return dwarf_formflag(dwarf_attr(die, DW_AT_declaration, &attr), &flag) == 0 && flag;
}

static void read_struct(struct gt_type_dwarf *d, struct gt_type_dwarf_type *at, struct gt_type *to)
{
    uint64_t convention = 0;
    Dwarf_Die child;
    bool said = gt_elf_die_number(&at->die, DW_AT_calling_convention, &convention);

    to->cxx = at->cxx;
    to->incomplete = is_declaration(&at->die) || at->level > LEVEL_MOST;
    to->by_reference = convention == DW_CC_pass_by_reference;
    if (to->incomplete || dwarf_child(&at->die, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variant_part)
            to->incomplete = true;
        if (at->cxx && !said && is_nontrivial(&child))
            to->by_reference = true;
        if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
            add_member(d, at->id, &child, at->level);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void read_enum(struct gt_type_dwarf *d, struct gt_type_dwarf_type *at, struct gt_type *to)
{
    Dwarf_Die child;
    Dwarf_Attribute attr;
    Dwarf_Sword value;

    to->kind = GT_TYPE_ENUM;
    to->incomplete = is_declaration(&at->die);
    if (dwarf_child(&at->die, &child) != 0)
        return;
    do {
        if (dwarf_tag(&child) != DW_TAG_enumerator ||
            dwarf_formsdata(dwarf_attr(&child, DW_AT_const_value, &attr), &value) != 0)
            continue;
        to->is_signed = to->is_signed || value < 0;
        gt_types_add_value(d->out->types, at->id,
                           &(struct gt_type_value){name_of(d, &child), (uint64_t)value});
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void read_array(struct gt_type_dwarf *d, struct gt_type_dwarf_type *at, struct gt_type *to)
{
    uint64_t count[DIMENSIONS] = {0}, bound;
    Dwarf_Die child;
    Dwarf_Word size;
    size_t n = 0;

    for (int r = dwarf_child(&at->die, &child); r == 0 && n < DIMENSIONS;
         r = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (gt_elf_die_number(&child, DW_AT_upper_bound, &bound))
            count[n] = bound + 1;
        else
            gt_elf_die_number(&child, DW_AT_count, &count[n]);
        n++;
    }
    *to = (struct gt_type){.kind = GT_TYPE_ARRAY, .of = type_at(d, &at->die, at->level)};
    for (size_t i = n; i-- > 1;) {
        to->n = count[i] < UINT32_MAX ? (uint32_t)count[i] : 0;
        to->of = gt_types_add(d->out->types, to);
    }
    to->n = n && count[0] < UINT32_MAX ? (uint32_t)count[0] : 0;
    if (gt_elf_die_flag(&at->die, DW_AT_GNU_vector)) {
        to->kind = GT_TYPE_VECTOR;
        to->size = dwarf_aggregate_size(&at->die, &size) == 0 && size < 4096 ? (uint32_t)size : 0;
    }
}

/* Pointers to members: an offset, or of functions two words. */
static void read_member_pointer(struct gt_type_dwarf *d, struct gt_type_dwarf_type *at,
                                struct gt_type *to)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;

    *to = (struct gt_type){.kind = GT_TYPE_INT, .size = at->word, .is_signed = true};
    if (!dwarf_formref_die(dwarf_attr(&at->die, DW_AT_type, &attr), &type) ||
        dwarf_tag(&type) != DW_TAG_subroutine_type)
        return;
    uint32_t word = gt_types_add(d->out->types, to);
    *to = (struct gt_type){.kind = GT_TYPE_STRUCT, .size = 2 * (uint32_t)at->word};
    gt_types_set(d->out->types, at->id, to);
    for (unsigned i = 0; i < 2; i++)
        gt_types_add_member(d->out->types, at->id,
                            &(struct gt_type_member){.name = i ? "adjustment" : "function",
                                                     .bit = i * 8 * (uint64_t)at->word,
                                                     .type = word});
}

static void read_other(struct gt_type_dwarf *d, struct gt_type_dwarf_type *at, struct gt_type *to)
{
    switch (dwarf_tag(&at->die)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type: /* that of nullptr */
        *to = (struct gt_type){.kind = GT_TYPE_POINTER, .size = to->size ? to->size : at->word};
        to->of = type_at(d, &at->die, at->level < UINT8_MAX ? at->level + 1 : at->level);
        break;
    case DW_TAG_subroutine_type:
        *to = (struct gt_type){.kind = GT_TYPE_FUNCTION};
        break;
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
        *to = (struct gt_type){.kind = GT_TYPE_TYPEDEF, .name = to->name};
        to->of = type_at(d, &at->die, at->level);
        break;
    default:
        break;
    }
}

static void read_type(struct gt_type_dwarf *d, struct gt_type_dwarf_type at)
{
    struct gt_type to = {
        .name = name_of(d, &at.die), .size = size_of(&at.die), .align = align_of(&at.die)};
    int tag = dwarf_tag(&at.die);

    switch (tag) {
    case DW_TAG_base_type:
        set_base(d, &to, &at.die);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        to.kind = tag == DW_TAG_union_type ? GT_TYPE_UNION : GT_TYPE_STRUCT;
        gt_types_set(d->out->types, at.id, &to);
        read_struct(d, &at, &to);
        break;
    case DW_TAG_enumeration_type:
        to.kind = GT_TYPE_ENUM;
        gt_types_set(d->out->types, at.id, &to);
        read_enum(d, &at, &to);
        break;
    case DW_TAG_array_type:
        read_array(d, &at, &to);
        break;
    case DW_TAG_ptr_to_member_type:
        read_member_pointer(d, &at, &to);
        break;
    default:
        read_other(d, &at, &to);
    }
    gt_types_set(d->out->types, at.id, &to);
    if (to.kind == GT_TYPE_ENUM)
        gt_type_find_flags(d->out->types, at.id);
}

void gt_type_dwarf_types_read(struct gt_type_dwarf *d)
{
    while (d->n_queue && gt_types_status(d->out->types) == GT_OK) {
        struct gt_type_dwarf_type *t = &d->map[slot_of(d, d->queue[--d->n_queue])];
        int tag = dwarf_tag(&t->die);
        bool is_struct =
            tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
        if (t->whole)
            continue;
        /* A type that is not a struct is read again at a lower level, so that what it refers to
         * is. */
        t->whole = is_struct
                       ? t->level <= LEVEL_MOST
                       : t->level == 0 || tag == DW_TAG_base_type ||
                             tag == DW_TAG_enumeration_type || tag == DW_TAG_ptr_to_member_type;
        read_type(d, *t);
    }
}

void gt_type_dwarf_types_free(struct gt_type_dwarf *d)
{
    free(d->map);
    free(d->queue);
}
