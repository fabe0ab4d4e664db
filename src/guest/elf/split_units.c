/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split units that libdw does not read by itself: see die.h.
 *
 * Sections of one name are put together in a file in memory. libdw has no call that takes the file
 * of a unit: it opens what DW_AT_dwo_name says, once, and keeps the contents. So the attribute, in
 * libelf's copy of the sections, leads to the file in memory while libdw looks for it.
 */
#include "guest/elf/die.h"

#include "guest/elf/file.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAMES_MOST = 32, NAME_MOST = 48, PATH_ROOM = 32 };
#define BYTES_MOST ((size_t)512 << 20)

/* Sections of a .dwo file by their names. */
struct merged {
    char text[1 + NAMES_MOST * NAME_MOST + sizeof ".shstrtab"]; /* of the section names */
    size_t n_text, bytes;
    struct {
        size_t name; /* into text */
        Elf_Scn *section;
    } of[NAMES_MOST];
    size_t n;
    bool several; /* sections of one name */
};

static bool is_split_section(const char *name)
{
    const size_t n = strlen(name);
    return n < NAME_MOST && n > 4 && strncmp(name, ".debug_", 7) == 0 &&
           strcmp(name + n - 4, ".dwo") == 0;
}

static Elf_Scn *section_of(struct merged *m, Elf *to, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->text + m->of[i].name, name) == 0) {
            m->several = true;
            return m->of[i].section;
        }
    GElf_Shdr header;
    Elf_Scn *section = m->n < NAMES_MOST ? elf_newscn(to) : NULL;
    if (!section || !gelf_getshdr(section, &header))
        return NULL;
    header.sh_name = (GElf_Word)m->n_text;
    header.sh_type = SHT_PROGBITS;
    header.sh_addralign = 1;
    m->of[m->n].name = m->n_text;
    m->of[m->n++].section = section;
    strcpy(m->text + m->n_text, name);
    m->n_text += strlen(name) + 1;
    return gelf_update_shdr(section, &header) ? section : NULL;
}

static bool add_bytes(Elf_Scn *to, void *bytes, size_t n)
{
    Elf_Data *data = elf_newdata(to);
    if (!data)
        return false;
    data->d_buf = bytes;
    data->d_size = n;
    data->d_align = 1;
    data->d_type = ELF_T_BYTE;
    data->d_version = EV_CURRENT;
    return true;
}

static bool add_section(struct merged *m, Elf *to, Elf_Scn *from, const char *name)
{
    GElf_Chdr packed;
    GElf_Shdr header;
    if (gelf_getchdr(from, &packed) &&
        (packed.ch_size > BYTES_MOST || elf_compress(from, 0, 0) < 0))
        return false;
    const Elf_Data *data = gelf_getshdr(from, &header) && header.sh_type != SHT_NOBITS
                               ? elf_rawdata(from, NULL)
                               : NULL;
    if (!data || !data->d_buf)
        return true;
    Elf_Scn *section = data->d_size <= BYTES_MOST - m->bytes ? section_of(m, to, name) : NULL;
    m->bytes += data->d_size;
    return section && add_bytes(section, data->d_buf, data->d_size);
}

/* True: a file was written, which has sections that the first of its name is not all of. */
static bool merge(Elf *from, Elf *to)
{
    static const char own[] = ".shstrtab";
    struct merged m = {.n_text = 1};
    GElf_Ehdr old, header;
    GElf_Shdr names;
    size_t strings;
    if (!gelf_getehdr(from, &old) || elf_getshdrstrndx(from, &strings) != 0 ||
        !gelf_newehdr(to, gelf_getclass(from)) || !gelf_getehdr(to, &header))
        return false;
    for (Elf_Scn *s = elf_nextscn(from, NULL); s; s = elf_nextscn(from, s)) {
        const char *name =
            gelf_getshdr(s, &names) ? elf_strptr(from, strings, names.sh_name) : NULL;
        if (name && is_split_section(name) && !add_section(&m, to, s, name))
            return false;
    }
    Elf_Scn *last = m.several ? elf_newscn(to) : NULL;
    if (!last || !gelf_getshdr(last, &names))
        return false;
    names.sh_name = (GElf_Word)m.n_text;
    names.sh_type = SHT_STRTAB;
    memcpy(m.text + m.n_text, own, sizeof own);
    header.e_ident[EI_DATA] = old.e_ident[EI_DATA];
    header.e_type = old.e_type;
    header.e_machine = old.e_machine;
    header.e_version = EV_CURRENT;
    header.e_shstrndx = (GElf_Half)elf_ndxscn(last);
    return add_bytes(last, m.text, m.n_text + sizeof own) && gelf_update_shdr(last, &names) &&
           gelf_update_ehdr(to, &header) && elf_update(to, ELF_C_WRITE) > 0;
}

/* The file in memory; -1: the .dwo file needs none. */
static int merged_file(const char *path)
{
    struct gt_elf from;
    if (gt_elf_open(path, &from, NULL) != 0)
        return -1;
    int fd = memfd_create("dwo", MFD_CLOEXEC);
    Elf *to = fd < 0 ? NULL : elf_begin(fd, ELF_C_WRITE, NULL);
    if (!to || !merge(from.elf, to)) {
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    elf_end(to);
    gt_elf_close(&from);
    return fd;
}

/* Where libdw looks: in the folder of the file with the other half, then in that of the
 * compilation.
 */
static int open_split(const char *path, Dwarf_Die *unit, Dwarf_Attribute *name)
{
    Dwarf_Attribute attr;
    const char *file = dwarf_formstring(name);
    const char *compiled = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
    char *real = realpath(path, NULL), *end = real ? strrchr(real, '/') : NULL;
    if (end)
        *end = '\0';
    const char *const folders[] = {end ? real : NULL, compiled};
    int fd = -1;
    for (size_t i = 0; file && *file != '/' && fd < 0 && i < 2; i++) {
        char *whole;
        if (!folders[i] || asprintf(&whole, "%s/%s", folders[i], file) < 0)
            continue;
        fd = merged_file(whole);
        free(whole);
    }
    free(real);
    return file && *file == '/' ? merged_file(file) : fd;
}

static Elf_Data *strings_of(Elf *elf)
{
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, ".debug_str") == 0)
            return elf_getdata(s, NULL);
    }
    return NULL;
}

/* libdw looks for the unit's other half while its name is that of the file in memory. */
static void look_in(int fd, Dwarf_Die *unit, Dwarf_Attribute *name, Elf_Data *strings)
{
    uint8_t *at = name->valp, *text = strings->d_buf;
    uint8_t old_at[4], old_text[PATH_ROOM];
    char path[PATH_ROOM];
    Dwarf_Die split;
    memset(path, 0, sizeof path);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    memcpy(old_at, at, sizeof old_at);
    memcpy(old_text, text, sizeof old_text);
    memset(at, 0, sizeof old_at);
    memcpy(text, path, sizeof path);
    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL);
    memcpy(at, old_at, sizeof old_at);
    memcpy(text, old_text, sizeof old_text);
}

void gt_elf_split_units_find(Dwarf *dwarf, const char *path)
{
    Elf_Data *strings = dwarf ? strings_of(dwarf_getelf(dwarf)) : NULL;
    Dwarf_CU *cu = NULL;
    Dwarf_Attribute name;
    Dwarf_Die unit, whole;
    uint8_t type, offset;
    if (!strings || !strings->d_buf || strings->d_size < PATH_ROOM)
        return;
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0) {
        if (type != DW_UT_skeleton ||
            !dwarf_cu_die(cu, &whole, NULL, NULL, NULL, &offset, NULL, NULL) || offset != 4 ||
            (!dwarf_attr(&unit, DW_AT_dwo_name, &name) &&
             !dwarf_attr(&unit, DW_AT_GNU_dwo_name, &name)) ||
            dwarf_whatform(&name) != DW_FORM_strp)
            continue;
        int fd = open_split(path, &unit, &name);
        if (fd < 0)
            continue;
        look_in(fd, &unit, &name, strings);
        close(fd);
    }
}
