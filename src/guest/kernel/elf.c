/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an ELF vmlinux: its segments by link address and its .symtab, with the type letters of nm.
 */
#include "guest/kernel/private.h"

#include <ctype.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void read_segments(struct gt_kernel *k)
{
    Elf *elf = k->priv->elf.elf;
    GElf_Phdr ph;
    size_t n;

    if (elf_getphdrnum(elf, &n) != 0)
        return;
    for (size_t i = 0; i < n && i < INT_MAX && k->priv->n_segment < GT_KERNEL_SEGMENTS; i++) {
        Elf_Data *data;
        if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || ph.p_filesz == 0 ||
            ph.p_filesz > GT_KERNEL_SIZE_MAX || ph.p_offset > INT64_MAX)
            continue;
        data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_BYTE);
        if (!data || !data->d_buf || data->d_size == 0 ||
            data->d_size - 1 > UINT64_MAX - ph.p_vaddr)
            continue;
        k->priv->segment[k->priv->n_segment++] =
            (struct gt_kernel_segment){ph.p_vaddr, data->d_buf, data->d_size};
    }
}

/* The letters of nm, small for local symbols; 0: no symbol of the kernel's. */
static char letter_of(const GElf_Sym *sym, const GElf_Shdr *sections, size_t n)
{
    unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
    char letter;

    if (sym->st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE)
        return 0;
    if (bind == STB_WEAK)
        return type == STT_OBJECT ? 'V' : 'W';
    if (sym->st_shndx == SHN_ABS)
        letter = 'A';
    else if (sym->st_shndx >= n)
        letter = 'D';
    else if (sections[sym->st_shndx].sh_flags & SHF_EXECINSTR)
        letter = 'T';
    else if (sections[sym->st_shndx].sh_type == SHT_NOBITS)
        letter = 'B';
    else
        letter = sections[sym->st_shndx].sh_flags & SHF_WRITE ? 'D' : 'R';
    return bind == STB_LOCAL ? (char)tolower(letter) : letter;
}

#define SECTIONS_MAX 4096

static size_t read_sections(Elf *elf, GElf_Shdr *sections)
{
    size_t n;

    if (elf_getshdrnum(elf, &n) != 0)
        return 0;
    if (n > SECTIONS_MAX)
        n = SECTIONS_MAX;
    for (size_t i = 0; i < n; i++) {
        Elf_Scn *scn = elf_getscn(elf, i);
        if (!scn || !gelf_getshdr(scn, &sections[i]))
            memset(&sections[i], 0, sizeof sections[i]);
    }
    return n;
}

static int add_symbols(struct gt_kernel *k, Elf_Data *symbols, Elf_Data *strings,
                       const GElf_Shdr *sections, size_t n)
{
    GElf_Sym sym;
    int status = GT_OK;

    for (int i = 1; status == GT_OK && gelf_getsym(symbols, i, &sym); i++) {
        struct gt_kernel_symbol s = {.addr = sym.st_value, .type = letter_of(&sym, sections, n)};
        size_t length;
        if (!s.type || sym.st_name >= strings->d_size)
            continue;
        s.name = (char *)strings->d_buf + sym.st_name;
        length = strnlen(s.name, strings->d_size - sym.st_name);
        if (GELF_ST_TYPE(sym.st_info) == STT_FUNC)
            s.size = sym.st_size;
        if (length)
            status = gt_kernel_add(k, &s, length);
    }
    return status;
}

static int read_symtab(struct gt_kernel *k, const GElf_Shdr *sections, size_t n,
                       struct gt_error *err)
{
    static const GElf_Shdr none;
    Elf *elf = k->priv->elf.elf;
    const GElf_Shdr *link = &none;
    Elf_Data *symbols, *strings;
    size_t at = 0;
    int status;

    while (at < n && sections[at].sh_type != SHT_SYMTAB)
        at++;
    if (at == n)
        return GT_OK;
    if (sections[at].sh_link < n)
        link = &sections[sections[at].sh_link];
    symbols = elf_getdata(elf_getscn(elf, at), NULL);
    strings = link->sh_type == SHT_STRTAB ? elf_getdata(elf_getscn(elf, sections[at].sh_link), NULL)
                                          : NULL;
    if (!symbols || !symbols->d_buf || !strings || !strings->d_buf)
        return gt_error_set(err, GT_E_FORMAT, "%s: .symtab lies outside the file", k->path);
    status = add_symbols(k, symbols, strings, sections, n);
    if (status != GT_OK)
        gt_error_set(err, status, "%s: .symtab: %s", k->path, gt_error_status_text(status));
    return status;
}

int gt_kernel_read_elf(struct gt_kernel *k, struct gt_error *err)
{
    const char *ident = elf_getident(k->priv->elf.elf, NULL);
    GElf_Shdr *sections;
    GElf_Ehdr header;
    int status;

    if (!ident || !gelf_getehdr(k->priv->elf.elf, &header))
        return gt_error_set(err, GT_E_FORMAT, "%s: the ELF header is truncated or inconsistent",
                            k->path);
    if (ident[EI_DATA] != ELFDATA2LSB)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: big-endian, expected little-endian",
                            k->path);
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return gt_error_set(err, GT_E_FORMAT, "%s: ELF type %u, expected an executable (a vmlinux)",
                            k->path, header.e_type);
    k->e_machine = header.e_machine;
    k->bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    read_segments(k);
    sections = calloc(SECTIONS_MAX, sizeof *sections);
    if (!sections)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", k->path);
    status = read_symtab(k, sections, read_sections(k->priv->elf.elf, sections), err);
    free(sections);
    return status == GT_OK && k->n_all == 0 ? gt_kernel_kallsyms_read(k, err) : status;
}
