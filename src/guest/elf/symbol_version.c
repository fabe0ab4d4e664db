/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions after names of symbols: a linker writes NAME@@VERSION for the one that is used by
 * default, NAME@VERSION for others. '@' may as well be a letter of a name, so what follows a single
 * one has to be a version of the file: one that it defines (SHT_GNU_verdef) or needs
 * (SHT_GNU_verneed). A file with debug information alone does not have these sections any more.
 */
#include "guest/elf/symbols_private.h"

#include <limits.h>
#include <string.h>

enum { VERSIONS_MOST = 4096 }; /* of a section that are looked at */

/* An offset that is not an offset: -1. */
static int step(const Elf_Data *data, int at, GElf_Word by)
{
    return by < data->d_size ? at + (int)by : -1;
}

static bool is_string(Elf *elf, size_t section, size_t offset, const char *text)
{
    const char *name = elf_strptr(elf, section, offset);
    return name && strcmp(name, text) == 0;
}

static bool is_defined(Elf *elf, Elf_Data *data, size_t strings, const char *version)
{
    GElf_Verdef def;
    GElf_Verdaux aux;
    int at = 0;
    for (int i = 0; i < VERSIONS_MOST && gelf_getverdef(data, at, &def); i++) {
        if (gelf_getverdaux(data, step(data, at, def.vd_aux), &aux) &&
            is_string(elf, strings, aux.vda_name, version))
            return true;
        if (!def.vd_next)
            break;
        at = step(data, at, def.vd_next);
    }
    return false;
}

static bool is_needed(Elf *elf, Elf_Data *data, size_t strings, const char *version)
{
    GElf_Verneed need;
    GElf_Vernaux aux;
    int at = 0;
    for (int i = 0; i < VERSIONS_MOST && gelf_getverneed(data, at, &need); i++) {
        int next = step(data, at, need.vn_aux);
        for (unsigned k = 0; k < need.vn_cnt && gelf_getvernaux(data, next, &aux); k++) {
            if (is_string(elf, strings, aux.vna_name, version))
                return true;
            if (!aux.vna_next)
                break;
            next = step(data, next, aux.vna_next);
        }
        if (!need.vn_next)
            break;
        at = step(data, at, need.vn_next);
    }
    return false;
}

static bool is_version(Elf *elf, const char *text)
{
    GElf_Shdr sh;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        if (!gelf_getshdr(scn, &sh))
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        if (sh.sh_type == SHT_NOBITS && is_string(elf, names, sh.sh_name, ".gnu.version"))
            return true;
        if (data && data->d_buf && data->d_size < INT_MAX / 2 &&
            ((sh.sh_type == SHT_GNU_verdef && is_defined(elf, data, sh.sh_link, text)) ||
             (sh.sh_type == SHT_GNU_verneed && is_needed(elf, data, sh.sh_link, text))))
            return true;
    }
    return false;
}

size_t gt_elf_sym_unversioned(Elf *elf, const char *name, size_t length)
{
    const char *at = length > 1 ? memrchr(name + 1, '@', length - 1) : NULL;
    if (!at)
        return length;
    const size_t n = (size_t)(at - name);
    if (n > 1 && at[-1] == '@')
        return n - 1;
    return is_version(elf, at + 1) ? n : length;
}
