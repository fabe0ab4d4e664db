/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files to execute: see exec_file.h. */
#include "qemu/support/exec_file.h"

#include "base/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEAD = 256, PHDRS_MOST = 64 };

struct head {
    int fd;
    uint8_t bytes[HEAD]; /* the first ones; what the file does not have is 0 */
    size_t n;
    struct stat st;
};

static bool open_head(const char *path, struct head *h)
{
    memset(h, 0, sizeof *h);
    h->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (h->fd < 0)
        return false;
    ssize_t n = pread(h->fd, h->bytes, sizeof h->bytes, 0);
    h->n = n > 0 ? (size_t)n : 0;
    if (fstat(h->fd, &h->st) == 0 && S_ISREG(h->st.st_mode))
        return true;
    close(h->fd);
    return false;
}

static bool is_elf(const struct head *h)
{
    return h->n >= sizeof(Elf32_Ehdr) && memcmp(h->bytes, ELFMAG, SELFMAG) == 0;
}

static bool gains_rights(const struct head *h)
{
    return h->st.st_mode & (S_ISUID | S_ISGID) ||
           fgetxattr(h->fd, "security.capability", NULL, 0) > 0;
}

/* ---- programs ------------------------------------------------------------------------------ */

/* Of both classes alike. */
struct segment {
    uint64_t type, offset, size;
};

static bool read_segment(const struct head *h, size_t i, struct segment *out)
{
    Elf64_Ehdr eh;
    Elf64_Phdr ph;
    Elf32_Ehdr eh32;
    Elf32_Phdr ph32;
    if (h->bytes[EI_CLASS] == ELFCLASS64) {
        memcpy(&eh, h->bytes, sizeof eh);
        if (i >= eh.e_phnum || i >= PHDRS_MOST ||
            pread(h->fd, &ph, sizeof ph, (off_t)(eh.e_phoff + i * sizeof ph)) != sizeof ph)
            return false;
        *out = (struct segment){ph.p_type, ph.p_offset, ph.p_filesz};
        return true;
    }
    memcpy(&eh32, h->bytes, sizeof eh32);
    if (i >= eh32.e_phnum || i >= PHDRS_MOST ||
        pread(h->fd, &ph32, sizeof ph32, (off_t)(eh32.e_phoff + i * sizeof ph32)) != sizeof ph32)
        return false;
    *out = (struct segment){ph32.p_type, ph32.p_offset, ph32.p_filesz};
    return true;
}

/* Whether the file is a whole program whose dynamic linker is there. */
static bool is_program(const struct head *h)
{
    struct segment s;
    uint16_t type;
    bool loads = false;
    memcpy(&type, h->bytes + offsetof(Elf64_Ehdr, e_type), sizeof type);
    if (h->n < sizeof(Elf64_Ehdr) || h->bytes[EI_DATA] != ELFDATA2LSB ||
        (type != ET_EXEC && type != ET_DYN))
        return false;
    for (size_t i = 0; read_segment(h, i, &s); i++) {
        char linker[4096];
        loads |= s.type == PT_LOAD;
        if (s.type == PT_LOAD && s.size &&
            (s.offset > (uint64_t)h->st.st_size || s.size > (uint64_t)h->st.st_size - s.offset))
            return false;
        if (s.type != PT_INTERP)
            continue;
        if (s.size < 2 || s.size > sizeof linker ||
            pread(h->fd, linker, s.size, (off_t)s.offset) != (ssize_t)s.size ||
            linker[s.size - 1] || access(linker, X_OK) != 0)
            return false;
    }
    return loads;
}

/* The machines whose programs this host's processor runs. */
static bool is_native(uint16_t e_machine)
{
#if defined __x86_64__
    return e_machine == EM_X86_64 || e_machine == EM_386;
#elif defined __aarch64__
    return e_machine == EM_AARCH64;
#elif defined __riscv
    return e_machine == EM_RISCV;
#else
    return false;
#endif
}

/* ---- binfmt_misc --------------------------------------------------------------------------- */

static uint8_t hex_at(const char *text, size_t i)
{
    return (uint8_t)(g_ascii_xdigit_value(text[2 * i]) << 4 |
                     g_ascii_xdigit_value(text[2 * i + 1]));
}

static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at && (at == text || at[-1] == '\n') ? at + strlen(key) : NULL;
}

/* Whether an entry of binfmt_misc, as the kernel shows it, is for a file that begins so. */
static bool entry_matches(const char *text, const struct head *h)
{
    const char *magic = value_of(text, "magic "), *mask = value_of(text, "mask ");
    const char *at = value_of(text, "offset ");
    size_t offset = at ? strtoul(at, NULL, 10) : 0;
    size_t n = magic ? strspn(magic, "0123456789abcdef") / 2 : 0;
    if (!g_str_has_prefix(text, "enabled") || n == 0 || offset > h->n || n > h->n - offset ||
        (mask && strspn(mask, "0123456789abcdef") / 2 != n))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((h->bytes[offset + i] ^ hex_at(magic, i)) & (mask ? hex_at(mask, i) : 0xff))
            return false;
    return true;
}

static bool has_binfmt(const struct head *h)
{
    static const char folder[] = "/proc/sys/fs/binfmt_misc";
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    bool found = false;
    while (dir && !found && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
        found = g_file_get_contents(path, &text, NULL, NULL) && entry_matches(text, h);
    }
    return found;
}

/* ---- both ---------------------------------------------------------------------------------- */

static bool is_for(const struct head *h, uint16_t e_machine)
{
    uint16_t machine;
    memcpy(&machine, h->bytes + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    return machine == e_machine && is_program(h) && (is_native(e_machine) || has_binfmt(h));
}

/* The interpreter of a script and what stands behind it, as the kernel takes them. */
static bool read_interpreter(const struct head *h, struct gt_exec_file *out)
{
    char line[HEAD + 1];
    memcpy(line, h->bytes, h->n);
    line[h->n] = '\0';
    size_t end = strcspn(line, "\n");
    if (end == h->n && h->n == HEAD) /* it may have been cut */
        return false;
    line[end] = '\0';
    char *words = g_strstrip(line + 2);
    size_t name = strcspn(words, " \t");
    char *rest = words + name + strspn(words + name, " \t");
    if (!name)
        return false;
    out->interpreter = g_strndup(words, name);
    out->argument = *rest ? g_strdup(rest) : NULL;
    return true;
}

static int read_script(const struct head *h, uint16_t e_machine, struct gt_exec_file *out)
{
    struct head of;
    if (!read_interpreter(h, out) || access(out->interpreter, X_OK) != 0 ||
        !open_head(out->interpreter, &of))
        return GT_E_FORMAT;
    /* An interpreter that is a script itself is left to the kernel. */
    out->follow = is_elf(&of) && is_for(&of, e_machine) && !gains_rights(&of);
    close(of.fd);
    return 0;
}

static bool may_only_execute(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int gt_exec_file_read(const char *path, uint16_t e_machine, struct gt_exec_file *out)
{
    struct head h;
    *out = (struct gt_exec_file){0};
    if (!open_head(path, &h))
        return may_only_execute(path) ? 0 : GT_E_NOT_FOUND;
    int status = 0;
    out->path = g_strdup(path);
    if (is_elf(&h))
        out->follow = is_for(&h, e_machine) && !gains_rights(&h);
    else if (h.n > 2 && memcmp(h.bytes, "#!", 2) == 0)
        status = read_script(&h, e_machine, out);
    else
        status = has_binfmt(&h) ? 0 : GT_E_FORMAT;
    close(h.fd);
    if (status < 0)
        gt_exec_file_clear(out);
    return status;
}

void gt_exec_file_clear(struct gt_exec_file *f)
{
    g_free(f->path);
    g_free(f->interpreter);
    g_free(f->argument);
    *f = (struct gt_exec_file){0};
}
