/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of DWARF entries: see die.h. */
#include "guest/elf/die.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

enum { ORIGINS = 8 };

bool gt_elf_die_flag(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    bool flag = false;

    return dwarf_formflag(dwarf_attr_integrate(die, name, &attr), &flag) == 0 && flag;
}

static int pass_over(Dwarf_Attribute *attr, void *self)
{
    (void)attr;
    (void)self;
    return DWARF_CB_OK;
}

/* The entry that has the attribute, as dwarf_attr_integrate finds it. */
static bool find_attribute(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr)
{
    Dwarf_Attribute other;
    Dwarf_Die next;

    for (int i = 0; i < ORIGINS; i++, *die = next) {
        if (dwarf_attr(die, name, attr))
            return true;
        if ((!dwarf_attr(die, DW_AT_abstract_origin, &other) &&
             !dwarf_attr(die, DW_AT_specification, &other)) ||
            !dwarf_formref_die(&other, &next))
            return false;
    }
    return false;
}

/* libdw looks for the end of a string in .debug_info only when it passes over one. */
const char *gt_elf_die_string(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Die at = *die;

    if (!find_attribute(&at, name, &attr) ||
        (dwarf_whatform(&attr) == DW_FORM_string && dwarf_getattrs(&at, pass_over, NULL, 0) != 1))
        return NULL;
    return dwarf_formstring(&attr);
}

bool gt_elf_die_number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
    Dwarf_Attribute attr;

    return dwarf_formudata(dwarf_attr_integrate(die, name, &attr), out) == 0;
}

/* .debug_str, .debug_line_str, also .zdebug_str, .debug_str.dwo and .gnu.debuglto_.debug_str */
static bool has_strings(const char *name)
{
    const char *at = strstr(name, "debug_");

    return at && strstr(at, "str") && !strstr(at, "_offsets");
}

/* What libdw has opened, it has decompressed. */
static int check_file(Elf *elf, const char *path, struct gt_error *err)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return GT_OK;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data = name && header.sh_type != SHT_NOBITS && has_strings(name)
                                   ? elf_getdata(section, NULL)
                                   : NULL;
        const unsigned char *bytes = data ? data->d_buf : NULL;
        if (bytes && data->d_size && bytes[data->d_size - 1])
            return gt_error_set(err, GT_E_FORMAT,
                                "%s: section %s: the last of its %zu bytes is 0x%02x, expected 0 as"
                                " the end of a string; the debug information is damaged",
                                path, name, data->d_size, bytes[data->d_size - 1]);
    }
    return GT_OK;
}

int gt_elf_die_check_strings(Dwarf *dwarf, const char *path, struct gt_error *err)
{
    int status = check_file(dwarf_getelf(dwarf), path, err);
    Dwarf *shared = status == GT_OK ? dwarf_getalt(dwarf) : NULL;

    return shared ? check_file(dwarf_getelf(shared), path, err) : status;
}
