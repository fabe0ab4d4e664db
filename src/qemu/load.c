/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines QEMU's family of the plugin ABI before QEMU checks the plugin.
 *
 * QEMU reads `qemu_plugin_version` right after dlopen and refuses versions outside its range, so an
 * ELF constructor looks up the functions that the process exports and sets the version. Each family
 * has a function that the earlier ones lack; versions 6 and 7 export the same functions, so there
 * the version of QEMU decides: from GUESTTRACE_QEMU_VERSION, which the record command sets, else
 * from the text that the program prints for `-version`.
 */
#include "base/qemu_environment.h"
#include "qemu/abi.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
struct qemu_abi gt_qemu;
bool gt_qemu_data_copies;
enum qemu_family gt_qemu_family;
const char *gt_qemu_missing;

static void look_up_functions(void)
{
#define LOOK_UP(name, type)                                                                        \
    gt_qemu.name = (__typeof__(gt_qemu.name))dlsym(RTLD_DEFAULT, "qemu_plugin_" #name);
#define LOOK_UP_REQUIRED(name, type)                                                               \
    LOOK_UP(name, type)                                                                            \
    if (!gt_qemu.name && !gt_qemu_missing)                                                         \
        gt_qemu_missing = "qemu_plugin_" #name;
    QEMU_ABI_FUNCTIONS(LOOK_UP_REQUIRED, LOOK_UP)
#undef LOOK_UP
#undef LOOK_UP_REQUIRED
}

/* "11.1.3 ..." as 1101; 0 where the text does not begin like a version. */
static int parse_version(const char *text)
{
    char *end;
    unsigned long major = strtoul(text, &end, 10);
    if (end == text || *end != '.' || major > 1000)
        return 0;
    const char *rest = end + 1;
    unsigned long minor = strtoul(rest, &end, 10);
    return end == rest || minor > 99 ? 0 : (int)(major * 100 + minor);
}

/* True where a text of QEMU's own, before " version ", ends: "QEMU emulator", "qemu-aarch64".
 * Another one is of a CPU model: "QEMU Virtual CPU version 2.5+". */
static bool names_qemu(const char *start, const char *end)
{
    static const char system[] = "QEMU emulator", user[] = "qemu-";
    enum { MOST = 64, LEN = sizeof system - 1 };
    if (end - start >= LEN && memcmp(end - LEN, system, LEN) == 0)
        return true;
    const char *text = end;
    while (text > start && end - text < MOST &&
           (isalnum((unsigned char)text[-1]) || text[-1] == '-' || text[-1] == '_'))
        text--;
    return (size_t)(end - text) > sizeof user - 1 && memcmp(text, user, sizeof user - 1) == 0;
}

/* In read-only data; 0: it is not there. */
static int version_in(const char *p, size_t n)
{
    static const char word[] = " version ";
    enum { LEN = sizeof word - 1 };
    const char *hit, *end = p + n;
    for (const char *at = p; (hit = memmem(at, (size_t)(end - at), word, LEN)); at = hit + LEN) {
        char text[16] = {0};
        size_t left = (size_t)(end - hit) - LEN;
        memcpy(text, hit + LEN, left < sizeof text - 1 ? left : sizeof text - 1);
        int version = names_qemu(p, hit) ? parse_version(text) : 0;
        if (version)
            return version;
    }
    return 0;
}

/* Of the program's segments with exactly these flags. */
static int version_in_segments(const struct dl_phdr_info *program, uint32_t flags)
{
    int version = 0;
    for (int i = 0; i < program->dlpi_phnum && !version; i++) {
        const ElfW(Phdr) *h = &program->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && (h->p_flags & (PF_R | PF_W | PF_X)) == flags)
            version = version_in((const char *)program->dlpi_addr + h->p_vaddr, h->p_filesz);
    }
    return version;
}

/* The first object is the program. Linkers that save pages put its data beside its code. */
static int on_object(struct dl_phdr_info *program, size_t size, void *version)
{
    (void)size;
    int v = version_in_segments(program, PF_R);
    *(int *)version = v ? v : version_in_segments(program, PF_R | PF_X);
    return 1;
}

/* 6 or 7, for a host that exports what version 6 brought. Told nothing: the newest. */
static int version_6_or_7(void)
{
    const char *given = getenv(GT_QEMU_VERSION_VARIABLE);
    int version = given ? parse_version(given) : 0;
    if (!version)
        dl_iterate_phdr(on_object, &version);
    return version && version < 1101 ? 6 : 7;
}

__attribute__((constructor)) static void choose_version(void)
{
    look_up_functions();
    if (gt_qemu.set_pc)
        qemu_plugin_version = version_6_or_7();
    else if (gt_qemu.write_register)
        qemu_plugin_version = 5;
    else if (gt_qemu.mem_get_value)
        qemu_plugin_version = 4;
    else if (gt_qemu.read_register)
        qemu_plugin_version = 2;
    else
        qemu_plugin_version = 1;
    gt_qemu_family = qemu_plugin_version >= 7   ? QEMU_FAMILY_7
                     : qemu_plugin_version >= 2 ? QEMU_FAMILY_2
                                                : QEMU_FAMILY_1;
}
