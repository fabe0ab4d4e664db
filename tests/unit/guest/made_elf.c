/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "made_elf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE_SIZE = MADE_PLT - MADE_TEXT + MADE_PLT_SIZE };

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.plt\0.rela.plt\0.shstrtab";

static void *put(struct made_elf *e, const void *data, size_t size)
{
    void *at = e->data + e->size;

    assert(size <= sizeof e->data - 16 - e->size);
    if (data)
        memcpy(at, data, size);
    e->size = (e->size + size + 7) & ~(size_t)7;
    return at;
}

static void put_section(struct made_elf *e, unsigned number, const char *name, unsigned type,
                        const void *data, size_t size)
{
    Elf64_Shdr *s = &e->section[number];
    size_t at = 1;

    while (strcmp(section_names + at, name) != 0)
        at += strlen(section_names + at) + 1;
    s->sh_name = (Elf64_Word)at;
    s->sh_type = type;
    s->sh_offset = e->size;
    s->sh_size = size;
    s->sh_addralign = 1;
    put(e, data, size);
}

static void put_code(struct made_elf *e)
{
    static const uint8_t header[16] = {0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0};
    uint8_t code[CODE_SIZE] = {0}, *plt = code + (MADE_PLT - MADE_TEXT), *stub = plt + 16;
    uint32_t distance = MADE_GOT - (MADE_PLT + 16 + 6);

    memcpy(plt, header, sizeof header);
    stub[0] = 0xff;
    stub[1] = 0x25;
    memcpy(stub + 2, &distance, sizeof distance);
    put_section(e, 1, ".text", SHT_PROGBITS, code, sizeof code);
    e->section[1].sh_size = MADE_TEXT_SIZE;
    e->section[1].sh_addr = e->base + MADE_TEXT;
    e->section[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    e->section[4] = e->section[1];
    e->section[4].sh_name = (Elf64_Word)(strlen(".text.symtab.strtab") + 4);
    e->section[4].sh_offset += MADE_PLT - MADE_TEXT;
    e->section[4].sh_size = MADE_PLT_SIZE;
    e->section[4].sh_addr = e->base + MADE_PLT;
    *e->segment = (Elf64_Phdr){.p_type = PT_LOAD,
                               .p_flags = PF_R | PF_X,
                               .p_offset = e->section[1].sh_offset,
                               .p_vaddr = e->base + MADE_TEXT,
                               .p_filesz = sizeof code,
                               .p_memsz = sizeof code,
                               .p_align = 0x1000};
}

static void put_symbols(struct made_elf *e, const struct made_symbol *symbols, size_t n)
{
    static char names[8192];
    size_t used = 1;

    put_section(e, 2, ".symtab", SHT_SYMTAB, NULL, (n + 1) * sizeof(Elf64_Sym));
    e->section[2].sh_entsize = sizeof(Elf64_Sym);
    e->section[2].sh_link = 3;
    e->symbol = (Elf64_Sym *)(e->data + e->section[2].sh_offset);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(symbols[i].name) + 1;
        assert(used + length < sizeof names);
        memcpy(names + used, symbols[i].name, length);
        e->symbol[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)used,
                                       .st_value = e->base + symbols[i].value,
                                       .st_size = symbols[i].size,
                                       .st_info = ELF64_ST_INFO(symbols[i].bind, symbols[i].type),
                                       .st_shndx = symbols[i].section};
        used += length;
    }
    put_section(e, 3, ".strtab", SHT_STRTAB, names, used);
}

void made_elf(struct made_elf *e, const struct made_symbol *symbols, size_t n)
{
    Elf64_Rela rela = {.r_offset = e->base + MADE_GOT,
                       .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT)};
    Elf64_Ehdr header = {.e_ident = ELFMAG,
                         .e_type = e->type,
                         .e_machine = e->machine,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof(Elf64_Ehdr),
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 2,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 7,
                         .e_shstrndx = 6};

    memset(e->data, 0, sizeof e->data);
    e->size = 0;
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    e->header = put(e, &header, sizeof header);
    e->segment = put(e, NULL, 2 * sizeof(Elf64_Phdr));
    e->segment[1] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = e->base, .p_filesz = 64, .p_memsz = 64};
    e->header->e_shoff = e->size;
    e->section = put(e, NULL, 7 * sizeof(Elf64_Shdr));
    put_code(e);
    put_symbols(e, symbols, n);
    put_section(e, 5, ".rela.plt", SHT_RELA, &rela, sizeof rela);
    e->section[5].sh_flags = SHF_ALLOC;
    e->section[5].sh_entsize = sizeof rela;
    e->section[5].sh_link = 2;
    put_section(e, 6, ".shstrtab", SHT_STRTAB, section_names, sizeof section_names);
}

const char *made_elf_file(const struct made_elf *e, size_t size)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("made", MFD_CLOEXEC);
    assert(fd >= 0 && ftruncate(fd, 0) == 0);
    assert(pwrite(fd, e->data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}
