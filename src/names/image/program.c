/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs on this machine: see program.h. libelf reads the files; every offset is checked. */
#include "names/image/program.h"

#include "guest/elf/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLUGIN_MARK                                                                                \
    "qemu_plugin_outs" /* exported by every QEMU that can load plugins, since 4.2                  \
                        */

static bool is_executable_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

GPtrArray *gt_image_program_search(const char *name, bool all)
{
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    if (strchr(name, '/')) {
        g_ptr_array_add(found, g_strdup(name));
        return found;
    }
    const char *path = g_getenv("PATH");
    g_auto(GStrv) dirs = g_strsplit(path ? path : "/usr/local/bin:/usr/bin:/bin", ":", -1);
    for (char **d = dirs; *d && *name && (all || found->len == 0); d++) {
        char *candidate = g_build_filename(**d ? *d : ".", name, NULL);
        if (is_executable_file(candidate))
            g_ptr_array_add(found, candidate);
        else
            g_free(candidate);
    }
    return found;
}

static int elf_error(const char *path, struct gt_error *err)
{
    const char *why = elf_errmsg(-1);
    return gt_error_set(err, GT_E_FORMAT, "%s: damaged ELF file: %s", path,
                        why ? why : "its headers do not fit the file");
}

/* The text of PT_INTERP, which must lie in the file and end in it. */
static int read_interpreter(Elf *elf, const GElf_Phdr *ph, const char *path,
                            struct gt_image_program *out, struct gt_error *err)
{
    size_t size = 0;
    const char *raw = elf_rawfile(elf, &size);
    if (!raw || ph->p_offset > size || ph->p_filesz > size - ph->p_offset || ph->p_filesz == 0 ||
        ph->p_filesz > PATH_MAX || raw[ph->p_offset + ph->p_filesz - 1] != '\0')
        return gt_error_set(
            err, GT_E_FORMAT,
            "%s: damaged ELF file: its interpreter's name (offset 0x%llx, %llu bytes)"
            " is not in the file's %zu bytes",
            path, (unsigned long long)ph->p_offset, (unsigned long long)ph->p_filesz, size);
    g_free(out->interpreter);
    out->interpreter = g_strdup(raw + ph->p_offset);
    return 0;
}

static int read_segments(Elf *elf, const char *path, struct gt_image_program *out,
                         struct gt_error *err)
{
    size_t n = 0, size = 0;
    GElf_Ehdr eh;
    if (elf_getphdrnum(elf, &n) != 0 || !elf_rawfile(elf, &size) || !gelf_getehdr(elf, &eh))
        return elf_error(path, err);
    if (eh.e_phnum != PN_XNUM && n != eh.e_phnum) /* libelf counts those that are in the file */
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: cut short: %zu of %u program headers are in the file's %zu bytes",
                            path, n, eh.e_phnum, size);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr ph;
        if (!gelf_getphdr(elf, (int)i, &ph))
            return elf_error(path, err);
        if (ph.p_type == PT_LOAD && ph.p_filesz && /* one of zeros alone may begin anywhere */
            (ph.p_offset > size || ph.p_filesz > size - ph.p_offset))
            return gt_error_set(
                err, GT_E_FORMAT,
                "%s: cut short: segment %zu (offset 0x%llx, %llu bytes) is not in the"
                " file's %zu bytes",
                path, i, (unsigned long long)ph.p_offset, (unsigned long long)ph.p_filesz, size);
        int status = ph.p_type == PT_INTERP ? read_interpreter(elf, &ph, path, out, err) : 0;
        if (status < 0)
            return status;
    }
    return 0;
}

static bool exports_plugins(Elf *elf)
{
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr sh;
        if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM || sh.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        if (!data)
            continue;
        for (size_t i = 0; i < data->d_size / sh.sh_entsize && i <= INT_MAX; i++) {
            GElf_Sym sym;
            if (!gelf_getsym(data, (int)i, &sym))
                break;
            const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
            if (name && sym.st_shndx != SHN_UNDEF && strcmp(name, PLUGIN_MARK) == 0)
                return true;
        }
    }
    return false;
}

static int inspect_elf(int fd, const char *path, struct gt_image_program *out, struct gt_error *err)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr eh;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh)) {
        int status = elf_error(path, err);
        elf_end(elf);
        return status;
    }
    out->is_elf = true;
    out->e_machine = eh.e_machine;
    out->e_type = eh.e_type;
    out->has_entry = eh.e_entry != 0;
    out->bits = eh.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    out->data = eh.e_ident[EI_DATA];
    int status = read_segments(elf, path, out, err);
    out->exports_plugins = status == 0 && exports_plugins(elf);
    elf_end(elf);
    return status;
}

static int inspect_fd(int fd, const char *path, struct gt_image_program *out, struct gt_error *err)
{
    struct stat st;
    char head[256];
    if (fstat(fd, &st) != 0)
        return gt_error_errno(err, errno, "%s", path);
    if (S_ISDIR(st.st_mode))
        return gt_error_set(err, GT_E_FORMAT, "%s is a directory", path);
    ssize_t n = pread(fd, head, sizeof head - 1, 0);
    if (n < 0)
        return gt_error_errno(err, errno, "%s", path);
    head[n] = '\0';
    if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        return inspect_elf(fd, path, out, err);
    if (n >= 2 && memcmp(head, "#!", 2) == 0) {
        head[strcspn(head, "\n")] = '\0';
        out->shebang = g_strstrip(g_utf8_make_valid(head + 2, -1));
    }
    return 0;
}

int gt_image_program_inspect(const char *path, struct gt_image_program *out, struct gt_error *err)
{
    *out = (struct gt_image_program){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", path);
    int status = inspect_fd(fd, path, out, err);
    close(fd);
    if (status < 0)
        gt_image_program_clear(out);
    return status;
}

void gt_image_program_clear(struct gt_image_program *p)
{
    g_free(p->shebang);
    g_free(p->interpreter);
    *p = (struct gt_image_program){0};
}

enum { FILES_MOST = 1000 };

struct search {
    const char *root;
    GPtrArray *folders;              /* the usual ones */
    GPtrArray *found;                /* paths */
    GHashTable *seen;                /* names that were looked for, and paths */
    struct gt_image_program program; /* what the libraries have to be for */
};

/* The file at that path, as the guest sees it; NULL: none, or of another architecture. */
static char *guest_file(const struct search *s, const char *path)
{
    g_autofree char *rooted = s->root ? g_build_filename(s->root, path, NULL) : NULL;
    const char *const tries[] = {rooted, path};
    for (size_t i = 0; i < G_N_ELEMENTS(tries); i++) {
        struct gt_image_program p;
        if (!tries[i] || gt_image_program_inspect(tries[i], &p, NULL) < 0)
            continue;
        bool same = p.is_elf && p.e_machine == s->program.e_machine && p.bits == s->program.bits &&
                    p.data == s->program.data;
        gt_image_program_clear(&p);
        if (same)
            return g_canonicalize_filename(tries[i], NULL);
    }
    return NULL;
}

static void add_found(struct search *s, char *path)
{
    if (path && s->found->len < FILES_MOST && g_hash_table_add(s->seen, g_strdup(path)))
        g_ptr_array_add(s->found, path);
    else
        g_free(path);
}

/* Looks in folders separated by colons. */
static char *find_in(const struct search *s, const char *folders, const char *origin,
                     const char *name)
{
    g_auto(GStrv) list = g_strsplit(folders ? folders : "", ":", 0);
    char *path = NULL;
    for (char **f = list; *f && !path; f++) {
        g_autoptr(GString) folder = g_string_new(*f);
        g_string_replace(folder, "$ORIGIN", origin, 0);
        g_string_replace(folder, "${ORIGIN}", origin, 0);
        g_autofree char *full = g_build_filename(folder->str, name, NULL);
        path = folder->len ? guest_file(s, full) : NULL;
    }
    return path;
}

static void look_for(struct search *s, const char *name, const char *origin, const char *runpath)
{
    if (!g_hash_table_add(s->seen, g_strdup(name)))
        return;
    char *path = strchr(name, '/') ? guest_file(s, name) : NULL;
    if (!path && !strchr(name, '/')) {
        path = find_in(s, runpath, origin, name);
        if (!path)
            path = find_in(s, g_getenv("LD_LIBRARY_PATH"), origin, name);
        for (guint i = 0; !path && i < s->folders->len; i++)
            path = find_in(s, s->folders->pdata[i], origin, name);
    }
    add_found(s, path);
}

/* The section of that type; NULL: none. */
static Elf_Scn *dynamic_of(Elf *elf, GElf_Shdr *header)
{
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
        if (gelf_getshdr(scn, header) && header->sh_type == SHT_DYNAMIC)
            return scn;
    return NULL;
}

static const char *text_of(Elf *elf, const GElf_Shdr *header, const GElf_Dyn *d)
{
    const char *text = elf_strptr(elf, header->sh_link, d->d_un.d_val);
    return text ? text : "";
}

static void read_dynamic(struct search *s, Elf *elf, const char *path)
{
    GElf_Shdr header;
    GElf_Dyn d;
    Elf_Scn *scn = dynamic_of(elf, &header);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    g_autofree char *origin = g_path_get_dirname(path);
    const char *runpath = NULL;
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
        if (d.d_tag == DT_RUNPATH || (d.d_tag == DT_RPATH && !runpath))
            runpath = text_of(elf, &header, &d);
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
        if (d.d_tag == DT_NEEDED)
            look_for(s, text_of(elf, &header, &d), origin, runpath);
}

static void read_file(struct search *s, const char *path)
{
    struct gt_elf file;
    if (gt_elf_open(path, &file, NULL) < 0)
        return;
    read_dynamic(s, file.elf, path);
    gt_elf_close(&file);
}

static void add_folders(struct search *s, const char *const *triples)
{
    static const char *const usual[] = {"/lib",   "/usr/lib",   "/lib64",        "/usr/lib64",
                                        "/lib32", "/usr/lib32", "/usr/local/lib"};
    for (size_t i = 0; triples && triples[i]; i++) {
        g_ptr_array_add(s->folders, g_strconcat("/lib/", triples[i], NULL));
        g_ptr_array_add(s->folders, g_strconcat("/usr/lib/", triples[i], NULL));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
        g_ptr_array_add(s->folders, g_strdup(usual[i]));
}

GPtrArray *gt_image_libraries_of(const char *program, const char *root, const char *const *triples)
{
    struct search s = {.root = root, .found = g_ptr_array_new_with_free_func(g_free)};
    if (gt_image_program_inspect(program, &s.program, NULL) < 0)
        return s.found;
    s.folders = g_ptr_array_new_with_free_func(g_free);
    s.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    add_folders(&s, triples);
    if (s.program.interpreter)
        add_found(&s, guest_file(&s, s.program.interpreter));
    if (s.program.is_elf)
        read_file(&s, program);
    for (guint i = 0; i < s.found->len; i++) /* it grows */
        read_file(&s, s.found->pdata[i]);
    gt_image_program_clear(&s.program);
    g_ptr_array_unref(s.folders);
    g_hash_table_destroy(s.seen);
    return s.found;
}
