/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without symbols: .eh_frame has the start and size of each, in stripped files too.
 *
 * The section is a list of entries: u32 length of what follows it (0: nothing does, and others may;
 * 0xffffffff: a u64 has it), u32 id (u64 with such a length), the rest. Id 0 is a CIE, which has
 * the encoding of addresses in the FDEs that refer to it and follow it. Any other id is an FDE: how
 * far before the id its CIE begins; the start and size of a function, its augmentation data, and
 * then the rules of its frame. Of a CIE:
 *
 *   u8 version (1, 3; 4), the augmentation's letters up to a 0, (u8 size of addresses, u8 of
 *   segments,) numbers: alignment of code, of data (signed), the register of the return address
 *   (version 1: u8), bytes of augmentation data; these, the rules of all frames
 *
 * A cold part, which the compiler moved away from its function, has an FDE of its own that begins
 * with an existing frame: it is not a function, and left out. (The cold part of a function without
 * a frame cannot be distinguished from a function.)
 */
#include "base/array.h"
#include "base/search.h"
#include "guest/elf/leb128.h"
#include "guest/elf/symbols_private.h"

#include <dwarf.h>
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

static uint64_t read_value(struct gt_bytes_reader *in, uint8_t encoding, uint8_t bits)
{
    bool is_signed = encoding & DW_EH_PE_signed;

    switch (size_of(encoding, bits)) {
    case 2:
        return is_signed ? (uint64_t)(int16_t)gt_bytes_read_u16(in) : gt_bytes_read_u16(in);
    case 4:
        return is_signed ? (uint64_t)(int32_t)gt_bytes_read_u32(in) : gt_bytes_read_u32(in);
    default:
        return gt_bytes_read_u64(in);
    }
}

/* The addresses' encoding, from an augmentation like "zPLR": a letter for each item of the data.
 * DW_EH_PE_omit: not understood. */
static uint8_t read_encoding(const char *augmentation, struct gt_bytes_reader *in, uint8_t bits)
{
    uint8_t encoding = DW_EH_PE_absptr, pointer;

    for (const char *c = augmentation; *c; c++) {
        if (*c == 'R') {
            encoding = gt_bytes_read_u8(in);
        } else if (*c == 'L') {
            gt_bytes_read_u8(in);
        } else if (*c == 'P') {
            pointer = gt_bytes_read_u8(in);
            if (!size_of(pointer, bits) || (pointer & 0x70) == DW_EH_PE_aligned)
                return DW_EH_PE_omit;
            gt_bytes_read_bytes(in, size_of(pointer, bits));
        } else if (!strchr("zBG", *c)) { /* 'S' is a signal handler's trampoline */
            return DW_EH_PE_omit;
        }
    }
    bool known = !in->short_of && size_of(encoding, bits) &&
                 ((encoding & 0xf0) == DW_EH_PE_absptr || (encoding & 0xf0) == DW_EH_PE_pcrel);
    return known ? encoding : DW_EH_PE_omit;
}

/* The data of an augmentation that begins with 'z', which is left out of the reader then. */
static struct gt_bytes_reader take_data(struct gt_bytes_reader *in)
{
    struct gt_bytes_reader data;
    uint64_t size = gt_elf_read_uleb(in);
    size_t n = size < in->left ? (size_t)size : in->left;

    gt_bytes_reader_init(&data, gt_bytes_read_bytes(in, n), n);
    return data;
}

static void read_cie(struct cie *cie, struct gt_bytes_reader *in, uint8_t bits)
{
    uint8_t version = gt_bytes_read_u8(in);
    const char *augmentation = gt_elf_read_text(in);
    struct gt_bytes_reader data = {0};

    cie->encoding = DW_EH_PE_omit;
    if (!augmentation || (version != 1 && version != 3 && version != 4))
        return;
    cie->has_data = augmentation[0] == 'z';
    if (augmentation[0] && !cie->has_data)
        return;
    if (version == 4)
        gt_bytes_read_u16(in);
    gt_elf_read_uleb(in);
    gt_elf_read_sleb(in);
    if (version == 1)
        gt_bytes_read_u8(in);
    else
        gt_elf_read_uleb(in);
    if (cie->has_data)
        data = take_data(in);
    if (!in->short_of)
        cie->encoding = read_encoding(augmentation, &data, bits);
}

static int add_cie(struct frames *f, uint64_t at, struct gt_bytes_reader *in)
{
    if (!GT_ARRAY_GROW(&f->cie, &f->cap, f->n_cie + 1))
        return GT_E_NOMEM;
    f->cie[f->n_cie] = (struct cie){.at = at};
    read_cie(&f->cie[f->n_cie++], in, f->r->s->bits);
    return GT_OK;
}

static const struct cie *find_cie(const struct frames *f, uint64_t at)
{
    size_t lo = GT_SEARCH_BELOW(f->cie, f->n_cie, at, at);

    return lo < f->n_cie && f->cie[lo].at == at ? &f->cie[lo] : NULL;
}

/* True where the frame is there when the code begins: what the first instruction defines, it does
 * at the entry. An address that is signed with a key says nothing about that. */
static bool is_part(struct gt_bytes_reader *in)
{
    uint8_t op;

    do {
        op = gt_bytes_read_u8(in);
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

/* `in` is what follows the id. */
static int add_fde(struct frames *f, const struct cie *cie, struct gt_bytes_reader in)
{
    struct gt_elf_symbols *s = f->r->s;
    const uint64_t field = f->addr + (uint64_t)(in.at - (const uint8_t *)f->data->d_buf);
    uint64_t pc, size, limit;
    struct sym_cand *c;

    if (!cie || cie->encoding == DW_EH_PE_omit)
        return GT_OK;
    pc = read_value(&in, cie->encoding, s->bits);
    size = read_value(&in, cie->encoding & 0x07, s->bits);
    /* No code: dropped by the linker, or still to be relocated. */
    if (in.short_of || pc == 0 || size == 0)
        return GT_OK;
    if ((cie->encoding & 0xf0) == DW_EH_PE_pcrel)
        pc += field;
    if (s->bits == 32)
        pc = (uint32_t)pc;
    limit = pc < s->load_base ? 0 : gt_elf_sym_text_end(f->r, pc - s->load_base);
    if (!limit || gt_elf_symbols_in_plt(s, pc - s->load_base))
        return GT_OK;
    if (cie->has_data)
        take_data(&in);
    if (is_part(&in))
        return GT_OK;
    c = gt_elf_sym_append(&f->r->list);
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

/* An entry at an offset in the section: what follows its length. */
static int add_entry(struct frames *f, uint64_t at, bool is_long, struct gt_bytes_reader in)
{
    const uint64_t from = at + (is_long ? 12 : 4);
    const uint64_t id = is_long ? gt_bytes_read_u64(&in) : gt_bytes_read_u32(&in);

    if (in.short_of)
        return GT_OK;
    return id ? add_fde(f, find_cie(f, from - id), in) : add_cie(f, at, &in);
}

static int read_entries(struct frames *f)
{
    struct gt_bytes_reader in;
    int status = GT_OK;

    gt_bytes_reader_init(&in, f->data->d_buf, f->data->d_size);
    while (status == GT_OK && in.left) {
        struct gt_bytes_reader entry;
        uint64_t at = f->data->d_size - in.left, size = gt_bytes_read_u32(&in);
        bool is_long = size == UINT32_MAX;
        if (is_long)
            size = gt_bytes_read_u64(&in);
        if (in.short_of || size > in.left)
            break;
        gt_bytes_reader_init(&entry, gt_bytes_read_bytes(&in, (size_t)size), (size_t)size);
        status = add_entry(f, at, is_long, entry);
    }
    return status;
}

int gt_elf_sym_read_frames(struct sym_reader *r, Elf *elf)
{
    GElf_Shdr sh = {0};
    Elf_Scn *scn = gt_elf_find_section(elf, ".eh_frame", &sh);
    struct frames f = {.r = r, .data = scn ? elf_getdata(scn, NULL) : NULL, .addr = sh.sh_addr};
    const char *ident = elf_getident(elf, NULL);
    int status;

    if (!f.data || !f.data->d_buf || !ident || ident[EI_DATA] != ELFDATA2LSB)
        return GT_OK;
    status = read_entries(&f);
    free(f.cie);
    return status;
}

int gt_elf_sym_name_frames(struct sym_reader *r)
{
    struct gt_elf_symbols *s = r->s;
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
