/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of DWARF entries: see die.h. */
#include "guest/elf/die.h"

#include <dwarf.h>

enum { ORIGINS = 8 };

bool gt_die_flag(Dwarf_Die *die, unsigned name)
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
const char *gt_die_string(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Die at = *die;

    if (!find_attribute(&at, name, &attr) ||
        (dwarf_whatform(&attr) == DW_FORM_string && dwarf_getattrs(&at, pass_over, NULL, 0) != 1))
        return NULL;
    return dwarf_formstring(&attr);
}

bool gt_die_number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
    Dwarf_Attribute attr;

    return dwarf_formudata(dwarf_attr_integrate(die, name, &attr), out) == 0;
}
