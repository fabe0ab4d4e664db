/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without symbols: .eh_frame has the start and size of each, in stripped files too.
 *
 * The section is a list of entries, which libdw finds. A CIE has the encoding of addresses in the
 * FDEs that refer to it, which follow it; an FDE has the start and size of a function, its
 * augmentation data, and then the rules of its frame.
 *
 * A cold part, which the compiler moved away from its function, has an FDE of its own that begins
 * with an existing frame: it is not a function, and left out. (The cold part of a function without
 * a frame cannot be distinguished from a function.)
 */
#include "base/array.h"
#include "base/search.h"
#include "guest/elf/symbols_private.h"

#include "base/bytes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cie {
    uint64_t at;      /* offset in the section */
    uint8_t encoding; /* DW_EH_PE_..., of the FDEs' addresses; DW_EH_PE_omit: not understood */
    bool has_data;    /* FDEs have augmentation data */
};

struct frames {
    struct sym_reader *r;
    Elf_Data *data;
    uint64_t addr;   /* of the section */
    struct cie *cie; /* by offset, as they come */
    size_t n_cie, cap;
};

/* The bytes of a value of that encoding; 0: of no fixed size, or not known. */
static unsigned size_of(uint8_t encoding, uint8_t bits)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_signed:
        return bits / 8;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return 8;
    default:
        return 0;
    }
}

static uint64_t read_value(struct gt_reader *in, uint8_t encoding, uint8_t bits)
{
    bool is_signed = encoding & DW_EH_PE_signed;

    switch (size_of(encoding, bits)) {
    case 2:
        return is_signed ? (uint64_t)(int16_t)gt_read_u16(in) : gt_read_u16(in);
    case 4:
        return is_signed ? (uint64_t)(int32_t)gt_read_u32(in) : gt_read_u32(in);
    default:
        return gt_read_u64(in);
    }
}

/* The addresses' encoding, from an augmentation like "zPLR": a letter for each item of the data. */
static void read_augmentation(struct cie *cie, const Dwarf_CIE *from, uint8_t bits)
{
    struct gt_reader in;
    uint8_t encoding = DW_EH_PE_absptr, pointer;

    cie->encoding = DW_EH_PE_omit;
    cie->has_data = from->augmentation[0] == 'z';
    if (from->augmentation[0] && !cie->has_data)
        return;
    gt_reader_init(&in, from->augmentation_data,
                   from->augmentation_data ? from->augmentation_data_size : 0);
    for (const char *c = from->augmentation; *c; c++) {
        if (*c == 'R') {
            encoding = gt_read_u8(&in);
        } else if (*c == 'L') {
            gt_read_u8(&in);
        } else if (*c == 'P') {
            pointer = gt_read_u8(&in);
            if (!size_of(pointer, bits) || (pointer & 0x70) == DW_EH_PE_aligned)
                return;
            gt_read_bytes(&in, size_of(pointer, bits));
        } else if (!strchr("zBG", *c)) { /* 'S' is a signal handler's trampoline */
            return;
        }
    }
    if (!in.short_of && size_of(encoding, bits) &&
        ((encoding & 0xf0) == DW_EH_PE_absptr || (encoding & 0xf0) == DW_EH_PE_pcrel))
        cie->encoding = encoding;
}

static int add_cie(struct frames *f, uint64_t at, const Dwarf_CIE *from)
{
    if (!GT_ARRAY_GROW(&f->cie, &f->cap, f->n_cie + 1))
        return GT_E_NOMEM;
    f->cie[f->n_cie] = (struct cie){.at = at};
    read_augmentation(&f->cie[f->n_cie++], from, f->r->s->bits);
    return GT_OK;
}

static const struct cie *find_cie(const struct frames *f, uint64_t at)
{
    size_t lo = GT_SEARCH_BELOW(f->cie, f->n_cie, at, at);

    return lo < f->n_cie && f->cie[lo].at == at ? &f->cie[lo] : NULL;
}

/* True where the frame is there when the code begins: what the first instruction defines, it does
 * at the entry. An address that is signed with a key says nothing about that. */
static bool is_part(struct gt_reader *in)
{
    uint8_t op;

    do {
        op = gt_read_u8(in);
    } while (!in->short_of && (op == DW_CFA_nop || op == DW_CFA_GNU_window_save));
    switch (in->short_of ? DW_CFA_nop : op) {
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_expression:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_def_cfa_offset_sf:
        return true;
    default:
        return !in->short_of && (op & 0xc0) == DW_CFA_offset;
    }
}

/* Skips the data of an augmentation that begins with 'z'. */
static void skip_augmentation(struct gt_reader *in)
{
    uint64_t size = 0;
    uint8_t byte;

    for (unsigned shift = 0; shift < 63; shift += 7) {
        byte = gt_read_u8(in);
        size |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    if (size > in->left)
        size = in->left;
    gt_read_bytes(in, (size_t)size);
}

static int add_fde(struct frames *f, const Dwarf_FDE *fde)
{
    const struct cie *cie = find_cie(f, fde->CIE_pointer);
    struct gt_symbols *s = f->r->s;
    struct gt_reader in;
    uint64_t pc, size, limit;
    struct sym_cand *c;

    if (!cie || cie->encoding == DW_EH_PE_omit)
        return GT_OK;
    gt_reader_init(&in, fde->start, (size_t)(fde->end - fde->start));
    pc = read_value(&in, cie->encoding, s->bits);
    size = read_value(&in, cie->encoding & 0x07, s->bits);
    /* No code: dropped by the linker, or still to be relocated. */
    if (in.short_of || pc == 0 || size == 0)
        return GT_OK;
    if ((cie->encoding & 0xf0) == DW_EH_PE_pcrel)
        pc += f->addr + (uint64_t)(fde->start - (const uint8_t *)f->data->d_buf);
    if (s->bits == 32)
        pc = (uint32_t)pc;
    limit = pc < s->load_base ? 0 : gt_sym_text_end(f->r, pc - s->load_base);
    if (!limit || gt_symbols_in_plt(s, pc - s->load_base))
        return GT_OK;
    if (cie->has_data)
        skip_augmentation(&in);
    if (is_part(&in))
        return GT_OK;
    c = gt_sym_append(&f->r->list);
    if (!c)
        return GT_E_NOMEM;
    *c = (struct sym_cand){.addr = pc - s->load_base, .size = size, .type = 'e'};
    c->limit = limit;
    c->rank = UINT32_MAX;
    for (int i = 0; i < 4; i++)
        if (s->plt_hi[i] && s->plt_lo[i] > c->addr && s->plt_lo[i] < c->limit)
            c->limit = s->plt_lo[i];
    return GT_OK;
}

static int read_entries(struct frames *f, const unsigned char *ident)
{
    Dwarf_Off at = 0, next = 0;
    Dwarf_CFI_Entry entry;
    int status = GT_OK;

    for (; status == GT_OK && at < f->data->d_size; at = next) {
        int found = dwarf_next_cfi(ident, f->data, true, at, &next, &entry);
        if (found > 0 || next <= at)
            break;
        if (found < 0)
            continue;
        if (dwarf_cfi_cie_p(&entry))
            status = add_cie(f, at, &entry.cie);
        else
            status = add_fde(f, &entry.fde);
    }
    return status;
}

static Elf_Data *find_section(Elf *elf, uint64_t *addr)
{
    Elf_Scn *scn = NULL;
    size_t names;
    GElf_Shdr sh;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((scn = elf_nextscn(elf, scn))) {
        const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        if (!name || strcmp(name, ".eh_frame") != 0 || sh.sh_type == SHT_NOBITS)
            continue;
        *addr = sh.sh_addr;
        return elf_getdata(scn, NULL);
    }
    return NULL;
}

int gt_sym_read_frames(struct sym_reader *r, Elf *elf)
{
    struct frames f = {.r = r};
    const char *ident = elf_getident(elf, NULL);
    int status;

    f.data = find_section(elf, &f.addr);
    if (!f.data || !f.data->d_buf || !ident || ident[EI_DATA] != ELFDATA2LSB)
        return GT_OK;
    status = read_entries(&f, (const unsigned char *)ident);
    free(f.cie);
    return status;
}

int gt_sym_name_frames(struct sym_reader *r)
{
    struct gt_symbols *s = r->s;
    const char *slash = strrchr(s->path, '/'), *base = slash ? slash + 1 : s->path;
    size_t n = 0, room = strnlen(base, 255) + sizeof "+0x0123456789abcdef";
    char *at;

    for (size_t i = 0; i < s->n_sym; i++)
        n += s->sym[i].type == 'e';
    if (n == 0)
        return GT_OK;
    s->strings[GT_MAX_STRINGS] = at = reallocarray(NULL, n, room);
    if (!at)
        return GT_E_NOMEM;
    for (size_t i = 0; i < s->n_sym; i++) {
        if (s->sym[i].type != 'e')
            continue;
        s->sym[i].name = at;
        at += snprintf(at, room, "%.255s+0x%llx", base, (unsigned long long)s->sym[i].addr) + 1;
    }
    for (char *c = s->strings[GT_MAX_STRINGS]; c < at; c++)
        if ((*c && (unsigned char)*c < ' ') || *c == 0x7f)
            *c = '?';
    return GT_OK;
}
