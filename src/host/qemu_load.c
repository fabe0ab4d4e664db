/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out, before QEMU looks at us, which family of the plugin ABI it speaks.
 *
 * QEMU reads `qemu_plugin_version` right after dlopen and refuses what is outside its range, so an
 * ELF constructor looks up the functions that the process exports and sets the version. Each family
 * is known by a function that came with it; 6 and 7 export the same ones, so there the version of
 * QEMU decides: from GUESTTRACE_QEMU_VERSION (the record command asks QEMU and tells us), else from
 * the version text that the executable carries.
 */
#include "host/qemu_abi.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
struct qemu_abi gt_qemu;
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

/* A version number in the executable's bytes: QEMU's `-version` prints a text that begins with
 * " version %s" filled by the linker-visible string "MAJOR.MINOR.MICRO (Debian ...)" or plain. The
 * usable anchor is the `qemu-MAJOR.MINOR` machine alias of system emulators: "pc-i440fx-11.1",
 * "virt-11.1". The highest one is the version. */
static int version_from_image(const char *p, size_t n)
{
    static const char *const anchors[] = {"virt-", "pc-q35-", "pc-i440fx-"};
    int best = 0;
    for (size_t a = 0; a < sizeof anchors / sizeof anchors[0]; a++) {
        size_t len = strlen(anchors[a]);
        const char *at = p, *hit;
        while ((hit = memmem(at, (size_t)(p + n - at), anchors[a], len))) {
            char text[16] = {0};
            size_t left = (size_t)(p + n - hit) - len;
            memcpy(text, hit + len, left < sizeof text - 1 ? left : sizeof text - 1);
            int v = parse_version(text);
            if (v > best && v < 100000)
                best = v;
            at = hit + len;
        }
    }
    return best;
}

static int version_from_executable(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return 0;
    int version = 0;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        char *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            version = version_from_image(p, (size_t)st.st_size);
            munmap(p, (size_t)st.st_size);
        }
    }
    close(fd);
    return version;
}

/* 6 or 7, for a host that exports what version 6 brought. Told nothing: the newest. */
static int version_6_or_7(void)
{
    const char *told = getenv("GUESTTRACE_QEMU_VERSION");
    int version = told ? parse_version(told) : 0;
    if (!version)
        version = version_from_executable();
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
