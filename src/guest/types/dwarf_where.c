/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where parameters are at a function's first instruction, by DW_AT_location, and what symbols say
 * of functions.
 *
 * Understood are registers (DW_OP_reg, also in pieces), a place relative to the canonical frame
 * address, and memory that a register points to. All else (DW_OP_entry_value, a list without an
 * entry at the first instruction) says that the compiler keeps the value nowhere there.
 */
#include "base/search.h"
#include "guest/elf/die.h"
#include "guest/types/dwarf_private.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { APPLE_OPTIMIZED = 0x3fe1 }; /* an attribute of LLVM */

/* The register of DW_OP_reg0 to 31 and DW_OP_regx, or of DW_OP_breg0 to 31; -1: another one. */
static int register_of(const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return op->atom - DW_OP_reg0;
    return op->atom == DW_OP_regx && op->number < UINT16_MAX ? (int)op->number : -1;
}

static bool frame_is_cfa(Dwarf_Die *function)
{
    Dwarf_Attribute attr;
    Dwarf_Op *op;
    size_t n;

    return dwarf_attr_integrate(function, DW_AT_frame_base, &attr) &&
           dwarf_getlocation(&attr, &op, &n) == 0 && n == 1 && op[0].atom == DW_OP_call_frame_cfa;
}

static bool registers(const Dwarf_Op *op, size_t n, struct gt_type_param_where *w)
{
    w->place = GT_PARAM_REGISTERS;
    if (n == 1 && register_of(op) >= 0) {
        w->reg[w->n++] = (uint16_t)register_of(op);
        return true;
    }
    for (size_t i = 0; i < n; i += 2) {
        if (w->n == GT_PARAM_PIECES || i + 1 == n || register_of(&op[i]) < 0 ||
            op[i + 1].atom != DW_OP_piece || op[i + 1].number == 0 || op[i + 1].number > 16)
            return false;
        w->reg[w->n] = (uint16_t)register_of(&op[i]);
        w->size[w->n++] = (uint16_t)op[i + 1].number;
    }
    return n != 0;
}

static bool understand(Dwarf_Die *function, const Dwarf_Op *op, size_t n,
                       struct gt_type_param_where *w)
{
    if (registers(op, n, w))
        return true;
    *w = (struct gt_type_param_where){0};
    if (n != 1)
        return false;
    if (op->atom == DW_OP_fbreg && (int64_t)op->number >= 0 && op->number < 1 << 20 &&
        frame_is_cfa(function)) {
        w->place = GT_PARAM_STACK;
        w->offset = (int32_t)op->number;
        return true;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 && op->number == 0) {
        w->place = GT_PARAM_REFERENCE;
        w->reg[0] = (uint16_t)(op->atom - DW_OP_breg0);
        return true;
    }
    return false;
}

static bool is_piece(const Dwarf_Op *op)
{
    return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

/* Whether a location has an empty piece, or its pieces end before the value does: what optimised
 * code does not use is described nowhere. */
static bool has_gap(Dwarf_Die *param, const Dwarf_Op *op, size_t n)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;
    Dwarf_Word size = 0, sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_piece(&op[i]) && (i == 0 || is_piece(&op[i - 1])))
            return true;
        if (is_piece(&op[i]))
            sum += op[i].atom == DW_OP_piece ? op[i].number : op[i].number / 8;
    }
    if (n == 0 || !is_piece(&op[n - 1]) || !dwarf_attr_integrate(param, DW_AT_type, &attr) ||
        !dwarf_formref_die(&attr, &type) || dwarf_aggregate_size(&type, &size) != 0)
        return false;
    return sum < size;
}

static bool is_whole(Dwarf_Attribute *attr)
{
    unsigned form = dwarf_whatform(attr);

    return form == DW_FORM_exprloc || form == DW_FORM_block1 || form == DW_FORM_block;
}

/* Register 31 is the stack pointer on aarch64, and no such on others. */
static bool is_in_frame(const Dwarf_Op *op)
{
    return op->atom == DW_OP_fbreg || op->atom == DW_OP_breg31;
}

enum gt_type_dwarf_word gt_type_dwarf_where(Dwarf_Die *function, Dwarf_Die *param, uint64_t entry,
                                            struct gt_type_param_where *out)
{
    struct gt_type_param_where w = {0};
    Dwarf_Attribute attr;
    Dwarf_Op *op = NULL;
    size_t n = 0;

    *out = w;
    if (!param || !dwarf_attr(param, DW_AT_location, &attr) ||
        dwarf_getlocation_addr(&attr, entry, &op, &n, 1) != 1 || n == 0 || has_gap(param, op, n))
        return GT_DWARF_NOWHERE;
    /* A register for the whole function is that after the first instructions. */
    if (understand(function, op, n, &w) && (!is_whole(&attr) || w.place == GT_PARAM_STACK)) {
        *out = w;
        return GT_DWARF_NAMED;
    }
    return is_whole(&attr) && is_in_frame(op) ? GT_DWARF_FRAME : GT_DWARF_LATER;
}

static bool is_aggregate(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;
    int tag = DW_TAG_invalid;

    if (dwarf_attr(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &type) &&
        dwarf_peel_type(&type, &type) == 0)
        tag = dwarf_tag(&type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* DWARF_CB_ABORT: the function is of optimised code. */
static int look(Dwarf_Die *die, void *self)
{
    Dwarf_Attribute attr;
    Dwarf_Die child;
    Dwarf_Addr entry;

    (void)self;
    if (gt_elf_die_flag(die, DW_AT_call_all_calls) ||
        gt_elf_die_flag(die, DW_AT_GNU_all_call_sites) || gt_elf_die_flag(die, APPLE_OPTIMIZED))
        return DWARF_CB_ABORT;
    if (dwarf_lowpc(die, &entry) != 0 || dwarf_child(die, &child) != 0)
        return DWARF_CB_OK;
    do {
        int tag = dwarf_tag(&child);
        bool has = dwarf_attr(&child, DW_AT_location, &attr) != NULL;
        if (has ? !is_whole(&attr) && !is_aggregate(&child) /* its address has several places */
                : tag == DW_TAG_formal_parameter && gt_elf_die_string(&child, DW_AT_name) != NULL)
            return DWARF_CB_ABORT;
    } while (dwarf_siblingof(&child, &child) == 0);
    return DWARF_CB_OK;
}

bool gt_type_dwarf_is_optimized(Dwarf_Die *unit)
{
    return dwarf_getfuncs(unit, look, NULL, 0) != 0;
}

static int compare(const void *a, const void *b)
{
    const struct gt_type_dwarf_symbol *x = a, *y = b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool is_clone(const char *name)
{
    return strstr(name, ".isra.") || strstr(name, ".constprop.") || strstr(name, ".part.") ||
           strstr(name, ".llvm.") || strstr(name, ".specialized.");
}

int gt_type_dwarf_symbols_read(struct gt_type_dwarf *d, Elf *elf)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    GElf_Sym sym;

    while ((scn = elf_nextscn(elf, scn)) && !d->has_symbols) {
        Elf_Data *data =
            gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB ? elf_getdata(scn, NULL) : NULL;
        size_t n = data && sh.sh_entsize ? data->d_size / sh.sh_entsize : 0;
        if (n == 0 || n > GT_TYPES_MAX)
            continue;
        d->symbol = calloc(n, sizeof *d->symbol);
        if (!d->symbol)
            return GT_E_NOMEM;
        d->has_symbols = true;
        for (size_t i = 0; i < n && gelf_getsym(data, (int)i, &sym); i++) {
            const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
            if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !name || sym.st_shndx == SHN_UNDEF)
                continue;
            d->symbol[d->n_symbol++] = (struct gt_type_dwarf_symbol){
                sym.st_value, GELF_ST_BIND(sym.st_info) == STB_LOCAL, is_clone(name)};
        }
    }
    if (d->n_symbol)
        qsort(d->symbol, d->n_symbol, sizeof *d->symbol, compare);
    return GT_OK;
}

const struct gt_type_dwarf_symbol *gt_type_dwarf_symbol_at(const struct gt_type_dwarf *d,
                                                           uint64_t addr)
{
    size_t i = GT_SEARCH_BELOW(d->symbol, d->n_symbol, addr, addr);
    const struct gt_type_dwarf_symbol *found = NULL;

    for (; i < d->n_symbol && d->symbol[i].addr == addr; i++)
        if (!found || !d->symbol[i].local) /* a global alias: others may call it */
            found = &d->symbol[i];
    return found;
}
