/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the bytes of a module's code that change when it is loaded.
 *
 * The loader applies the relocations of the code; the kernel then patches it: at the calls of its
 * function tracer, at alternatives for this CPU, at static branches and calls, at lock prefixes,
 * returns and indirect calls. Each kind of patch has a section of its own, whose relocations have
 * the addresses. The patches differ in size; the bytes that are marked cover all of them.
 */
#include "guest/kernel/private.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { RELOCATIONS_MAX = 1 << 22 };
enum { NOPS = ~0u }; /* the instructions there that do nothing, which are for the function tracer */

struct marker {
    struct gt_kernel_ko *m;
    Elf *elf;
    const unsigned *number; /* of m->section[]: its number in the file */
    Elf_Data *symbols;
};

/* Sections that list places in code, and how many bytes may be written there. */
static const struct {
    const char *name;
    unsigned width;
} lists[] = {
    {"__patchable_function_entries", NOPS},
    {"__mcount_loc", 5},
    {".altinstructions", 16},
    {".alternative", 16},
    {".parainstructions", 8},
    {"__jump_table", 5},
    {".static_call_sites", 6},
    {".retpoline_sites", 6},
    {".return_sites", 5},
    {".call_sites", 5},
    {".ibt_endbr_seal", 4},
    {".smp_locks", 1},
};

static struct gt_kernel_section *section_at(const struct marker *r, size_t number)
{
    for (size_t i = 0; i < r->m->n_section; i++)
        if (r->number[i] == number)
            return &r->m->section[i];
    return NULL;
}

static void mark(struct gt_kernel_section *s, uint64_t at, uint64_t n)
{
    if (at < s->size)
        memset(s->patched + at, 1, n < s->size - at ? n : s->size - at);
}

/* Which of eight bytes at its place a relocation of code may change: bit i for byte i. The others
 * hold the operation, and mostly the registers. */
static unsigned changed_aarch64(unsigned type)
{
    switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
        return 0xff;
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return 6;
    default:
        return 0xf;
    }
}

static unsigned changed_riscv(unsigned type)
{
    switch (type) {
    case R_RISCV_64:
        return 0xff;
    case R_RISCV_CALL:
    case R_RISCV_CALL_PLT:
        return 0xce;
    case R_RISCV_JAL:
    case R_RISCV_GOT_HI20:
    case R_RISCV_PCREL_HI20:
    case R_RISCV_HI20:
        return 0xe;
    case R_RISCV_PCREL_LO12_I:
    case R_RISCV_LO12_I:
        return 0xc;
    case R_RISCV_RVC_BRANCH:
    case R_RISCV_RVC_JUMP:
        return 3;
    case R_RISCV_RELAX:
        return 0;
    default:
        return 0xf;
    }
}

static unsigned changed_by(unsigned machine, unsigned type)
{
    switch (machine) {
    case EM_AARCH64:
        return changed_aarch64(type);
    case EM_RISCV:
        return changed_riscv(type);
    case EM_X86_64:
        return type == R_X86_64_64 || type == R_X86_64_PC64 ? 0xff : 0xf;
    default:
        return 0xff;
    }
}

static void mark_relocated(const struct marker *r, struct gt_kernel_section *s, const GElf_Rela *e)
{
    unsigned changed = changed_by(r->m->e_machine, (unsigned)GELF_R_TYPE(e->r_info));

    for (unsigned i = 0; changed >> i; i++)
        if (changed >> i & 1 && e->r_offset <= UINT64_MAX - i)
            mark(s, e->r_offset + i, 1);
    /* what a call or jump leads to may become a return, an indirect call, nothing */
    if (r->m->e_machine == EM_X86_64 && e->r_offset && e->r_offset <= s->size &&
        (s->data[e->r_offset - 1] & 0xfe) == 0xe8)
        mark(s, e->r_offset - 1, 1);
}

/* How many bytes of such an instruction are there; 0: there is another one. A landing pad for
 * indirect jumps (BTI) may stand among them. */
static unsigned nop_at(unsigned machine, const struct gt_kernel_section *s, uint64_t at)
{
    const uint8_t *b = s->data + at;
    uint32_t word;

    if (at >= s->size || s->size - at < 4)
        return 0;
    word = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    if (machine == EM_AARCH64)
        return word == 0xd503201f || word == 0xd503245f ? 4 : 0;
    return word == 0x13 ? 4 : (word & 0xffff) == 1 ? 2 : 0;
}

static void mark_nops(unsigned machine, struct gt_kernel_section *s, uint64_t at)
{
    for (unsigned n; (n = nop_at(machine, s, at)); at += n)
        mark(s, at, n);
}

static void mark_listed(const struct marker *r, unsigned width, const GElf_Rela *e)
{
    struct gt_kernel_section *s;
    GElf_Sym sym;

    if (!r->symbols || GELF_R_SYM(e->r_info) > INT32_MAX ||
        !gelf_getsym(r->symbols, (int)GELF_R_SYM(e->r_info), &sym))
        return;
    s = section_at(r, sym.st_shndx);
    if (s && width == NOPS)
        mark_nops(r->m->e_machine, s, sym.st_value + (uint64_t)e->r_addend);
    else if (s)
        mark(s, sym.st_value + (uint64_t)e->r_addend, width);
}

static unsigned width_of_list(const char *name)
{
    for (size_t i = 0; name && i < sizeof lists / sizeof lists[0]; i++)
        if (!strcmp(name, lists[i].name))
            return lists[i].width;
    return 0;
}

/* One section of relocations. */
static void mark_section(const struct marker *r, Elf_Scn *scn, const GElf_Shdr *sh, size_t strings)
{
    struct gt_kernel_section *code = section_at(r, sh->sh_info);
    Elf_Scn *target = elf_getscn(r->elf, sh->sh_info);
    Elf_Data *data = elf_getdata(scn, NULL);
    GElf_Shdr of;
    GElf_Rela e;
    unsigned width;

    if (!target || !gelf_getshdr(target, &of) || !data)
        return;
    width = code ? 0 : width_of_list(elf_strptr(r->elf, strings, of.sh_name));
    for (int i = 0; (code || width) && i < RELOCATIONS_MAX && gelf_getrela(data, i, &e); i++) {
        if (code)
            mark_relocated(r, code, &e);
        else
            mark_listed(r, width, &e);
    }
}

static Elf_Data *find_symbols(Elf *elf)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;

    while ((scn = elf_nextscn(elf, scn)))
        if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
            return elf_getdata(scn, NULL);
    return NULL;
}

int gt_kernel_module_mark(struct gt_kernel_ko *m, Elf *elf, const unsigned *number)
{
    struct marker r = {m, elf, number, find_symbols(elf)};
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    size_t strings;

    for (size_t i = 0; i < m->n_section; i++) {
        m->section[i].patched = calloc(m->section[i].size + 1, 1);
        if (!m->section[i].patched)
            return GT_E_NOMEM;
    }
    if (elf_getshdrstrndx(elf, &strings) != 0)
        return GT_OK;
    while ((scn = elf_nextscn(elf, scn)))
        if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA)
            mark_section(&r, scn, &sh, strings);
    return GT_OK;
}
